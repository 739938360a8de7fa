# Names of the module are read; assigning them makes names of the kernel.
LIMIT = 4
WIDTH = 8

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = LIMIT
    x += 1
    A[tx, 0] = x + LIMIT
    WIDTH = tx
    A[tx, 1] = WIDTH
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = 4
    x = x + 1
    A[tx, 0] = T.Cast("float32", x + 4)
    WIDTH: T.int32 = tx
    A[tx, 1] = T.Cast("float32", WIDTH)
