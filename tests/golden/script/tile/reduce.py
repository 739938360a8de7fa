# Reductions over axes.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 8), "float32")
    m = T.alloc_local((4,), "float32")
    c = T.alloc_local((8,), "float32")
    Tx.sum(m, r)
    Tx.max(m, r, axes=1)
    Tx.min(c, r, 0, accum=True)
    Tx.sum(m, r, axes=(1,))
    Tx.sum(m, r, axes=[-1], accum=False)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_buffer((4, 8), scope="local")
    m = T.alloc_local((4,))
    c = T.alloc_local((8,))
    Tx.sum(m[0:4], r[0:4, 0:8])
    Tx.max(m[0:4], r[0:4, 0:8], axes=1)
    Tx.min(c[0:8], r[0:4, 0:8], axes=0, accum=True)
    Tx.sum(m[0:4], r[0:4, 0:8], axes=1)
    Tx.sum(m[0:4], r[0:4, 0:8])
