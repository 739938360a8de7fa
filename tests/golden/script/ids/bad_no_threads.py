@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    bx = T.cta_id([4])
    A[0, 0] = 1.0
#--- expected
bad_no_threads.py:5:10: error: the ids do not tell how many threads a CTA has: declare `thread_id([n])`, or `warp_id([n])` [BadScopeIds]
        bx = T.cta_id([4])
             ^~~~~~~~~~~~~
