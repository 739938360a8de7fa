@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    bx = T.cta_id([0])
    tx = T.thread_id([32])
    A[0, 0] = 1.0
#--- expected
bad_empty.py:5:10: error: `cta_id` has the extent 0: expected at least 1 [BadScopeIds]
        bx = T.cta_id([0])
             ^~~~~~~~~~~~~
