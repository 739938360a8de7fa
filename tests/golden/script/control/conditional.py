# A conditional expression is lazy at run time and decided at compile time.
WIDE = True

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[tx, 0] = A[tx, 1] if tx < 4 else 0.0
    A[tx, 1] = 1.0 if WIDE else undefined_name
    x = 3 if tx % 2 == 0 else 4
    A[tx, 2] = x
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    A[tx, 0] = T.if_then_else(tx < 4, A[tx, 1], T.float32(0.0))
    A[tx, 1] = T.float32(1.0)
    x: T.int32 = T.if_then_else(tx % 2 == 0, 3, 4)
    A[tx, 2] = T.Cast("float32", x)
