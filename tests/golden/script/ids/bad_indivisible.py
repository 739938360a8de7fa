@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    wg = T.warpgroup_id()
    w = T.warp_id([6])
    T.lane_id([32])
    A[0, 0] = 1.0
#--- expected
bad_indivisible.py:6:9: error: a CTA has 192 threads by `warp_id`, no multiple of the 128 threads of a warpgroup [BadScopeIds]
        w = T.warp_id([6])
            ^~~~~~~~~~~~~~
