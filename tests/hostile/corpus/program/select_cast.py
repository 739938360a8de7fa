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
