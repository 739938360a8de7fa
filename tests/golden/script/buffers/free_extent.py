# A type called without an argument declares an extent.
@T.prim_func
def f(a: T.handle):
    n = T.int32()
    m = T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    if tx < n:
        A[tx, m - 1] = A[0, 0]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    n = T.int32()
    m = T.int64()
    A = T.match_buffer(a, (n, m))
    T.device_entry()
    tx = T.thread_id([32])
    if tx < n:
        A[tx, m - T.int64(1)] = A[0, 0]
