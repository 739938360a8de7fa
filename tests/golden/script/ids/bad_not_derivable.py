@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    w = T.warp_id()
    ln = T.lane_id([32])
    A[0, 0] = 1.0
#--- expected
bad_not_derivable.py:5:9: error: the ids do not tell how many threads a CTA has: declare `thread_id([n])`, or `warp_id([n])` [BadScopeIds]
        w = T.warp_id()
            ^~~~~~~~~~~
