# A name assigned for the first time is a local scalar; later assignments store.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    i = tx // 4
    f = 1.5
    b = tx < 3
    n = 7
    i = i + n
    f = i
    A[i, 0] = f
    if b:
        A[0, 1] = 2.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    i: T.int32 = tx // 4
    f: T.float32 = T.float32(1.5)
    b: T.bool = tx < 3
    n: T.int32 = 7
    i = i + n
    f = T.Cast("float32", i)
    A[i, 0] = f
    if b:
        A[0, 1] = T.float32(2.0)
