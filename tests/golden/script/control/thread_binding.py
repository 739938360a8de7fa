# Loops over threads.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    for i in T.thread_binding(4, "blockIdx.x"):
        for j in T.thread_binding(0, 32, thread="threadIdx.x"):
            A[i, j % 16] = 0.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    for i in T.thread_binding(4, "blockIdx.x"):
        for j in T.thread_binding(32, "threadIdx.x"):
            A[i, j % 16] = T.float32(0.0)
