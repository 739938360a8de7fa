# SPDX-License-Identifier: Apache-2.0
"""Barriers of a CTA that count, or ask all or any."""
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((64,), "int32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    A[t] = T.cuda.syncthreads_count(A[t] > 3)
    if T.cuda.syncthreads_or(A[t] > t):
        A[t] = T.cuda.syncthreads_and(A[t])
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((64,), "int32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    v = T.alloc_local((1,), "int32")
    T.ptx["barrier.cta.red.popc.aligned.u32"](v[0], T.uint32(0), T.ptx.pred(A[t] > 3))
    A[t] = v[0]
    v_1 = T.alloc_local((1,), "int32")
    T.ptx["barrier.cta.red.popc.aligned.u32"](v_1[0], T.uint32(0), T.ptx.pred(A[t] > t))
    if T.Cast("int32", v_1[0] != 0) != 0:
        v_2 = T.alloc_local((1,), "int32")
        T.ptx["barrier.cta.red.popc.aligned.u32"](v_2[0], T.uint32(0), T.ptx.pred(not A[t] != 0))
        A[t] = T.Cast("int32", v_2[0] == 0)
