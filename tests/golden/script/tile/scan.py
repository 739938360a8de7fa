# Scans along an axis.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 8), "float32")
    m = T.alloc_local((4, 8), "float32")
    Tx.cumsum(m, r)
    Tx.cumprod(m, r, axis=0)
    Tx.cummax(m, r, 1, True)
    Tx.cummin(m[0:2, :], r[2:4, :], exclusive=True)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_buffer((4, 8), scope="local")
    m = T.alloc_buffer((4, 8), scope="local")
    Tx.cumsum(m[0:4, 0:8], r[0:4, 0:8])
    Tx.cumprod(m[0:4, 0:8], r[0:4, 0:8], axis=0)
    Tx.cummax(m[0:4, 0:8], r[0:4, 0:8], axis=1, exclusive=True)
    Tx.cummin(m[0:2, 0:8], r[2:4, 0:8], exclusive=True)
