# Scalars are read and written by their bare name.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32
    y: T.float32 = 1
    z = T.local_scalar("uint32")
    s = T.shared_scalar("int32")
    w = T.alloc_scalar("float16", "local")
    x = tx + 1
    z = x
    s = x
    w = y
    A[tx, 0] = y + T.cast(s, "float32")
    x[0] = 3
    A[0, 1] = x[()]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32
    y: T.float32 = T.float32(1.0)
    z: T.uint32
    s = T.alloc_scalar("int32", "shared")
    w: T.float16
    x = tx + 1
    z = T.Cast("uint32", x)
    s = x
    w = T.Cast("float16", y)
    A[tx, 0] = y + T.Cast("float32", s)
    x = 3
    A[0, 1] = T.Cast("float32", x)
