# A macro has names of its own.
@T.macro
def swap(B, i, j):
    x = B[i, 0]
    B[i, 0] = B[j, 0]
    B[j, 0] = x

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = 1
    swap(A, tx, 1)
    A[tx, 2] = x
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = 1
    x_1: T.float32 = A[tx, 0]
    A[tx, 0] = A[1, 0]
    A[1, 0] = x_1
    A[tx, 2] = T.Cast("float32", x)
