@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.reinterpret("uint64", A[0, 0])
    y = T.reinterpret("float16", tx)
#--- expected
bad_reinterpret.py:6:9: error: cannot read the bits of `float32` as `uint64`: the widths differ [BadType]
        x = T.reinterpret("uint64", A[0, 0])
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_reinterpret.py:7:9: error: cannot read the bits of `int32` as `float16`: the widths differ [BadType]
        y = T.reinterpret("float16", tx)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
