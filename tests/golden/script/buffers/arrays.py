# An annotation with extents is a local array.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x: T.float32[8]
    y: T.f16[2, 4]
    for i in range(8):
        x[i] = A[tx, i]
    y[1, 3] = x[7]
    A[tx, 0] = y[1, 3]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_local((8,))
    y = T.alloc_buffer((2, 4), "float16", scope="local")
    for i in range(8):
        x[i] = A[tx, i]
    y[1, 3] = T.Cast("float16", x[7])
    A[tx, 0] = T.Cast("float32", y[1, 3])
