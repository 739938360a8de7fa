@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.zero(A[0:4, 0:4], A)
    Tx.sqrt(A[0:4, 0:4], A)
#--- expected
bad_stretch.py:6:5: error: `zero` of (16, 16) of `A` into (4, 4) of `A`, to which it does not stretch [BadTileCall]
        Tx.zero(A[0:4, 0:4], A)
        ^~~~~~~~~~~~~~~~~~~~~~~
bad_stretch.py:7:5: error: `sqrt` of (16, 16) of `A` into (4, 4) of `A`, to which it does not stretch [BadTileCall]
        Tx.sqrt(A[0:4, 0:4], A)
        ^~~~~~~~~~~~~~~~~~~~~~~
