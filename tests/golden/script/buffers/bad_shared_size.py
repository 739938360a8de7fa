@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_shared((256, 256), "float32")
    s0[0, 0] = 1.0
#--- expected
bad_shared_size.py:6:10: error: `s0` brings static shared memory to 262144 bytes; no architecture has more than 232448 [BadBuffer]
        s0 = T.alloc_shared((256, 256), "float32")
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
