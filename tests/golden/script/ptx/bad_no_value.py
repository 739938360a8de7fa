@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    x = T.ptx["mov.b32"](r[0], r[1])
    y = Tx.copy(A, A)
#--- expected
bad_no_value.py:8:9: error: this call returns nothing, expected a value [BadType]
        x = T.ptx["mov.b32"](r[0], r[1])
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_no_value.py:9:9: error: this call returns nothing, expected a value [BadType]
        y = Tx.copy(A, A)
            ^~~~~~~~~~~~~
  note: a tile primitive writes into its first argument, as in `Tx.cta.exp(y, x)`
