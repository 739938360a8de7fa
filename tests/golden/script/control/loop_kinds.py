# Loops by their kind.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    for i in T.serial(4):
        A[i, 0] = 0.0
    for i in T.serial(2, 8, step=2, unroll=True, annotations={"k": 1}):
        A[i, 0] = 1.0
    for i in T.serial(4, unroll=False):
        A[i, 0] = 2.0
    for i in T.unroll(1, 4):
        A[i, 0] = 3.0
    for i in T.vectorized(4):
        A[0, i] = 4.0
    for i in T.serial(0, 8, dtype="uint32"):
        A[i, 0] = 5.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    for i in range(4):
        A[i, 0] = T.float32(0.0)
    for i in T.serial(2, 8, step=2, annotations={"k": 1, "unroll": True}):
        A[i, 0] = T.float32(1.0)
    for i in T.serial(4, annotations={"unroll": False}):
        A[i, 0] = T.float32(2.0)
    for i in T.unroll(1, 4):
        A[i, 0] = T.float32(3.0)
    for i in T.vectorized(4):
        A[0, i] = T.float32(4.0)
    for i in T.serial(8, dtype="uint32"):
        A[i, 0] = T.float32(5.0)
