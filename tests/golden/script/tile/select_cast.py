# Choice and conversion.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 8), "float32")
    s = T.alloc_local((4, 8), "float32")
    p = T.alloc_local((4, 8), "bool")
    h = T.alloc_local((4, 8), "float16")
    Tx.select(r, r, s, p)
    Tx.cast(h, r)
    Tx.zero(h, h)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_buffer((4, 8), scope="local")
    s = T.alloc_buffer((4, 8), scope="local")
    p = T.alloc_buffer((4, 8), "bool", scope="local")
    h = T.alloc_buffer((4, 8), "float16", scope="local")
    Tx.select(r[0:4, 0:8], r[0:4, 0:8], s[0:4, 0:8], p[0:4, 0:8])
    Tx.cast(h[0:4, 0:8], src=r[0:4, 0:8])
    Tx.zero(h[0:4, 0:8], src=h[0:4, 0:8])
