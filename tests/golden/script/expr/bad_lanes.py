@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    v = A.vload([0, 0], "float32x4")
    w = A.vload([0, 0], "float32x2")
    x = v + w
    A[0, 0] = v + w
    A.vstore([0, 14], v)
#--- expected
bad_lanes.py:8:9: error: `+` of `float32x4` and `float32x2` [BadType]
        x = v + w
            ^~~~~
bad_lanes.py:9:15: error: `+` of `float32x4` and `float32x2` [BadType]
        A[0, 0] = v + w
                  ^~~~~
bad_lanes.py:10:14: error: index 17 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        A.vstore([0, 14], v)
                 ^~~~~~~
bad_lanes.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
