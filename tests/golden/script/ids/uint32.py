# Ids of another integer type.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    b = T.cta_id([4], dtype="uint32")
    tx = T.thread_id([16], dtype="uint32")
    A[0, tx] = T.cast(tx // 2, "float32")
    x = b + 1
    A[x % 16, 0] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    b = T.cta_id([4], dtype="uint32")
    tx = T.thread_id([16], dtype="uint32")
    A[0, tx] = T.Cast("float32", tx // T.uint32(2))
    x: T.uint32 = b + T.uint32(1)
    A[x % T.uint32(16), 0] = T.float32(1.0)
