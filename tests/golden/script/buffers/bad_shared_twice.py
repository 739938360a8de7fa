@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_buffer((4,), "float32", scope="shared.dyn")
    y = T.alloc_buffer((4,), "float32", scope="shared.dyn")
#--- expected
bad_shared_twice.py:7:9: error: `y` is a second allocation of shared.dyn; `x` is the only one there can be [BadBuffer]
        y = T.alloc_buffer((4,), "float32", scope="shared.dyn")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_shared_twice.py:6:9: note: declared here
        x = T.alloc_buffer((4,), "float32", scope="shared.dyn")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
