@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    w = T.warp_id([4])
    ln = T.lane_id([32])
    tx = T.thread_id([256])
    A[0, 0] = 1.0
#--- expected
bad_contradiction.py:7:10: error: a CTA has 256 threads by `thread_id`, but 128 threads by `warp_id` [BadScopeIds]
        tx = T.thread_id([256])
             ^~~~~~~~~~~~~~~~~~
bad_contradiction.py:5:9: note: `warp_id([4])` is declared here
        w = T.warp_id([4])
            ^~~~~~~~~~~~~~
