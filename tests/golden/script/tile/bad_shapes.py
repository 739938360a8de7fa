@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    s0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy(s0[0:8, :], A)
    Tx.cta.copy(s0[0:4, 0:8], A[0:8, 0:4])
    Tx.cta.add(s0, A, s0[0:4, :])
#--- expected
bad_shapes.py:7:5: error: `copy` into (8, 16) of `s0` from (16, 16) of `A`; the extents other than 1 differ [BadTileCall]
        Tx.cta.copy(s0[0:8, :], A)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~
bad_shapes.py:8:5: error: `copy` into (4, 8) of `s0` from (8, 4) of `A`; the extents other than 1 differ [BadTileCall]
        Tx.cta.copy(s0[0:4, 0:8], A[0:8, 0:4])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_shapes.py:9:5: error: `add` of (4, 16) of `s0` into (16, 16) of `s0`, to which it does not stretch [BadTileCall]
        Tx.cta.add(s0, A, s0[0:4, :])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
