@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 6), "float16")
    a0 = r.permute(0)
    a1 = r.permute(0, 2)
    a2 = r.permute(0, 0)
#--- expected
bad_permute.py:7:10: error: (0) is not a permutation of the 2 dimensions [BadArgument]
        a0 = r.permute(0)
             ^~~~~~~~~~~~
bad_permute.py:8:10: error: (0,2) is not a permutation of the 2 dimensions [BadArgument]
        a1 = r.permute(0, 2)
             ^~~~~~~~~~~~~~~
bad_permute.py:9:10: error: (0,0) is not a permutation of the 2 dimensions [BadArgument]
        a2 = r.permute(0, 0)
             ^~~~~~~~~~~~~~~
