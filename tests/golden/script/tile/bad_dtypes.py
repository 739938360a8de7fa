@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    s0 = T.alloc_shared((16, 16), "float16")
    Tx.cta.copy(s0, A)
    Tx.cta.add(s0, A, A)
#--- expected
bad_dtypes.py:7:5: error: `copy` with `float16` of `s0` and `float32` of `A`, expected one element type [BadTileCall]
        Tx.cta.copy(s0, A)
        ^~~~~~~~~~~~~~~~~~
  note: `cast` changes the element type, in registers
