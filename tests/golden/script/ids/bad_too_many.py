@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([2048])
    A[0, 0] = 1.0
#--- expected
bad_too_many.py:5:10: error: a CTA has 2048 x 1 x 1 threads: at most 1024 are possible [BadScopeIds]
        tx = T.thread_id([2048])
             ^~~~~~~~~~~~~~~~~~~
