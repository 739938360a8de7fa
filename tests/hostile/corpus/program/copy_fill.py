# Copies under conditions: a source may go beyond its end where zeros fill it up.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (10, 16), "float32")
    T.device_entry()
    bx = T.cta_id([2])
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy_async(S0, A[0:16, 0:16], fill_mode="zero")
    Tx.cta.copy(S0, src=A[bx * 16 : bx * 16 + 16, 0:16], fill_mode="zero", predicate=bx < 1)
    Tx.copy_async(S0[0, 0:4], A[0, 0:4], predicate=tx == 0, direct=True, prefetch_size=128)
