# A grid is nested loops.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    for i, j in T.grid(4, 8):
        A[i, j] = 0.0
    with T.grid(2, 3) as ij:
        A[ij[0], ij[1]] = 1.0
    with T.grid(4) as k:
        A[k, k] = 2.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    for i in range(4):
        for j in range(8):
            A[i, j] = T.float32(0.0)
    for ij_0 in range(2):
        for ij_1 in range(3):
            A[ij_0, ij_1] = T.float32(1.0)
    for k in range(4):
        A[k, k] = T.float32(2.0)
