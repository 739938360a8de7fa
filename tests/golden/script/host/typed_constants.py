# SPDX-License-Identifier: Apache-2.0
"""Constants that have a type before there is a kernel."""
import tvm
from tvm.script import tirx as T

scale = T.FloatImm("float32", 1.5)
half = T.float16(0.1)
count = T.cast(2.9, "int32")
assert count == 2 and T.IntImm("int32", 7).value == 7 and scale.dtype == "float32"
assert T.cast(300, "uint8") == 44 and T.Cast("int8", -1.5) == -1
assert T.max_value("int8") == 127 and T.min_value("int8") + 1 == -127
assert T.cast(200, "uint8") + 100 == 44  # wraps, as the type does
assert (half * 3).dtype == "float16" and half.value != 0.1
assert tvm.tirx.const(3, "int64").dtype == "int64"
assert (T.int32(3) * T.int64(4)).dtype == "int64" and (T.float16(1.5) + T.int32(2)).dtype == "float16"
assert -T.IntImm("int16", 5) == -5 and count // 2 == 1


@T.prim_func
def kernel(A: T.Buffer((32,), "float16"), B: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    B[t] = T.cast(A[t], "float32") * scale  # a float32, not a literal that adapts
    A[t] = A[t] * half + T.FloatImm("float16", 2.5) + 1.0
    A[t] = A[t] + T.cast(count, "float16")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((32,), "float16"), B: T.Buffer((32,))):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    B[t] = T.Cast("float32", A[t]) * T.float32(1.5)
    A[t] = A[t] * T.float16(0.1) + T.float16(2.5) + T.float16(1.0)
    A[t] = A[t] + T.float16(2.0)
