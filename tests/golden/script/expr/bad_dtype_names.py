@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_local((4,), "float31")
    y = T.cast(tx, "int")
    z = T.alloc_local((4,), "float32x4")
    w: T.floot32 = 1.0
#--- expected
bad_dtype_names.py:6:29: error: `float31` is not an element type; did you mean `float32`? [UnknownName]
        x = T.alloc_local((4,), "float31")
                                ^~~~~~~~~
bad_dtype_names.py:8:29: error: elements of type `float32x4`, expected a scalar type [BadBuffer]
        z = T.alloc_local((4,), "float32x4")
                                ^~~~~~~~~~~
bad_dtype_names.py:9:10: error: `T` has no `floot32`; did you mean `floor`? [UnknownName]
        w: T.floot32 = 1.0
             ^~~~~~~
