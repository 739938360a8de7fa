@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.lane_id()
    tx = T.thread_id([48])
    A[0, 0] = 1.0
#--- expected
bad_not_warps.py:6:10: error: a CTA has 48 threads by `thread_id`, no multiple of the 32 threads of a warp [BadScopeIds]
        tx = T.thread_id([48])
             ^~~~~~~~~~~~~~~~~
