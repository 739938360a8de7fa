# Variant, workspace and open settings.
extra = {"prefetch_size": 64}

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    S0 = T.alloc_shared((16, 16), "float32")
    W = T.alloc_shared((64,), "uint8")
    Tx.cta.copy(S0, A, dispatch="vec_auto", prefetch_size=128, cache="nc", predicate=True, fill_mode="zero")
    Tx.cta.copy(dst=S0, src=A, workspace={"tmp": W}, config={"l1_evict": "no_allocate"})
    Tx.cta.copy(S0, A, dispatch=None, **extra)
