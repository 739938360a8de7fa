# A buffer of one element is assigned by its name.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_shared([1], "uint32")
    s = 3
    s[0] = s + 1
    A[0, 0] = s
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_shared((1,), "uint32")
    s[0] = T.uint32(3)
    s[0] = s[0] + T.uint32(1)
    A[0, 0] = T.Cast("float32", s[0])
