@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 8), "float32")
    m = T.alloc_local((4,), "float32")
    Tx.sum(m, r, axes=0)
    Tx.sum(m, r, axes=2)
    Tx.max(r, r)
#--- expected
bad_reduce.py:8:5: error: `sum` over axis 0 of (4, 8) of `r` into (4) of `m`; the other extents differ [BadTileCall]
        Tx.sum(m, r, axes=0)
        ^~~~~~~~~~~~~~~~~~~~
bad_reduce.py:9:5: error: `sum` over axis 2 of (4, 8) of `r`, which has 2 axes [BadTileCall]
        Tx.sum(m, r, axes=2)
        ^~~~~~~~~~~~~~~~~~~~
bad_reduce.py:10:5: error: `max` over axis -1 of (4, 8) of `r` into (4, 8) of `r`; the other extents differ [BadTileCall]
        Tx.max(r, r)
        ^~~~~~~~~~~~
