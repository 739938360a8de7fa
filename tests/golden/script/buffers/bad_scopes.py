@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_buffer((4,), "float32", scope="register")
    z = T.alloc_shared((4,), "float32", align=3)
    w = T.alloc_local((0,), "float32")
    v = T.alloc_local((-4,), "float32")
#--- expected
bad_scopes.py:6:47: error: scope "register", expected global, shared, shared.dyn, local or tmem [BadBuffer]
        x = T.alloc_buffer((4,), "float32", scope="register")
                                                  ^~~~~~~~~~
bad_scopes.py:7:47: error: an alignment of 3, expected a power of two [BadBuffer]
        z = T.alloc_shared((4,), "float32", align=3)
                                                  ^
bad_scopes.py:8:24: error: an extent of 0, expected 1 or more [BadExtent]
        w = T.alloc_local((0,), "float32")
                           ^~
bad_scopes.py:9:24: error: an extent of -4, expected 1 or more [BadExtent]
        v = T.alloc_local((-4,), "float32")
                           ^~~
