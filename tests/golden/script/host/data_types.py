# SPDX-License-Identifier: Apache-2.0
"""Element types as values, by every name that TVM has for them."""
import tvm
from tvm import DataType
from tvm.runtime import DataType as RuntimeType
from tvm.script import tirx as T

bits = DataType("float16").bits
assert bits == 16 and tvm.DataType("float4_e2m1fn").bits == 4
assert tvm.DataType("float32x4").lanes == 4 and tvm.DataType("float32x4").itemsize == 16
assert DataType("float6_e2m3fn").itemsize == 1
codes = [DataType(name).type_code for name in ("int8", "uint8", "float32", "bfloat16", "bool", "float8_e4m3fn")]
assert codes == [0, 1, 2, 4, 6, 10]
assert RuntimeType("int8").with_lanes(4) == tvm.runtime.DataType("int8x4")
assert DataType("float16").is_float() and not DataType("float16").is_integer()
assert DataType("float16") == "float16" and DataType("bfloat16").startswith("bfloat")
vector = 128 // bits


@T.prim_func
def kernel(A: T.Buffer((32, vector), DataType("float16"))):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    for i in T.vectorized(128 // DataType(A.dtype).bits):
        A[t, i] = A[t, i] * 2.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((32, 8), "float16")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    for i in T.vectorized(8):
        A[t, i] = A[t, i] * T.float16(2.0)
