@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_local((tx,), "float32")
    x[0] = 1.0
#--- expected
bad_local_runtime.py:6:9: error: `x` is allocated in local memory with shape (?), expected constant extents [BadBuffer]
        x = T.alloc_local((tx,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
