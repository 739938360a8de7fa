@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    y = T.alloc_buffer((4,), "float32")
    y[0] = 1.0
#--- expected
bad_alloc_global.py:6:9: error: `y` is allocated in global memory, which a kernel cannot allocate; give a `scope` [BadBuffer]
        y = T.alloc_buffer((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
