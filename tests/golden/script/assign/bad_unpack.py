@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    a0, b0 = 1, 2, 3
    c0, d0 = tx
    e0, f0, *g0 = (1,)
#--- expected
bad_unpack.py:6:5: error: 3 values for 2 names [HostError]
        a0, b0 = 1, 2, 3
        ^~~~~~
bad_unpack.py:7:5: error: cannot iterate over expression [Opaque]
        c0, d0 = tx
        ^~~~~~
bad_unpack.py:8:5: error: 1 value for 3 names [HostError]
        e0, f0, *g0 = (1,)
        ^~~~~~~~~~~
