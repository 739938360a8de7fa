@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.warp_id([1])
    w = T.lane_id([16])
    A[0, 0] = 1.0
#--- expected
bad_lanes.py:6:9: error: a warp has 32 threads, but 16 threads by `lane_id` [BadScopeIds]
        w = T.lane_id([16])
            ^~~~~~~~~~~~~~~
