# SPDX-License-Identifier: Apache-2.0
"""The storage of a scalar, a scalar in storage that there is, names of TVM's other modules."""
import tvm
from tvm.script import ir as I
from tvm.script import tirx as T
from tvm.tirx.op import if_then_else


@T.prim_func
def kernel(A: T.Buffer((8,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([8])
    x: T.u32 = 0
    x.source[0] = x + T.uint32(1)
    buf = T.alloc_shared((4,), "uint32")
    E = T.decl_scalar("uint32", buf.data, "shared", 3)
    E = T.uint32(2)
    E = E + x
    limit = I.meta_var(T.int32(5))
    if tvm.tirx.all(t > 1, t < limit):
        A[t] = if_then_else(t == 2, E, T.uint32(0))
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((8,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([8])
    x: T.uint32 = T.uint32(0)
    x = x + T.uint32(1)
    buf = T.alloc_shared((4,), "uint32")
    E = T.decl_buffer((1,), "uint32", data=buf.data, elem_offset=3, scope="shared")
    E[0] = T.uint32(2)
    E[0] = E[0] + x
    if t > 1 and t < 5:
        A[t] = T.if_then_else(t == 2, E[0], T.uint32(0))
