# range is a serial loop, with constant bounds too.
N = 4

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    for i in range(N):
        A[tx, i] = 0.0
    for i in range(2, 10, 3):
        A[tx, i] = 1.0
    for i in range(tx, 16):
        A[tx, i] = 2.0
    for i in range(tx, 16, 4): A[tx, i] = 3.0
    for i in range(tx, tx + 4):
        A[tx, i] = 4.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    for i in range(4):
        A[tx, i] = T.float32(0.0)
    for i in T.serial(2, 11, step=3):
        A[tx, i] = T.float32(1.0)
    for i in range(tx, 16):
        A[tx, i] = T.float32(2.0)
    for i in T.serial(tx, tx + (16 - tx + 3) // 4 * 4, step=4):
        A[tx, i] = T.float32(3.0)
    for i in range(tx, tx + 4):
        A[tx, i] = T.float32(4.0)
