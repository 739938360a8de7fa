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
