# An inline function inside a kernel stores to the names around it.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = 1
    @T.inline
    def bump(n):
        x = x + n
        A[tx, 0] = x
    bump(2)
    bump(tx)
    A[tx, 1] = x
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = 1
    x = x + 2
    A[tx, 0] = T.Cast("float32", x)
    x = x + tx
    A[tx, 0] = T.Cast("float32", x)
    A[tx, 1] = T.Cast("float32", x)
