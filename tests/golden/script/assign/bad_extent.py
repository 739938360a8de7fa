@T.prim_func
def f(a: T.handle):
    m = T.int32()
    A = T.match_buffer(a, (m, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    m = 3
    A[0, 0] = m
#--- expected
bad_extent.py:7:5: error: `m` is an extent of a shape and cannot be assigned [ReadOnly]
        m = 3
        ^
bad_extent.py:3:9: note: bound here
        m = T.int32()
            ^~~~~~~~~
