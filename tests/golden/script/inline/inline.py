# The body is compiled at each call; it sees the arguments and the module.
K = 4

@T.inline
def scale(B, i, v=2.0):
    t = B[i, 0] * v
    B[i, K] = t

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    y = 2
    scale(A, tx, 3.0)
    scale(A, y, v=1.0)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    y: T.int32 = 2
    t: T.float32 = A[tx, 0] * T.float32(3.0)
    A[tx, 4] = t
    t_1: T.float32 = A[y, 0] * T.float32(1.0)
    A[y, 4] = t_1
