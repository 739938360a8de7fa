# `thread=` without a start.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(0, 32, thread="threadIdx.x"):
            A[b * 32 + t] = T.float32(1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,))
    T.device_entry()
    for b in T.thread_binding(2, "blockIdx.x"):
        for t in T.thread_binding(32, "threadIdx.x"):
            A[b * 32 + t] = T.float32(1.0)
