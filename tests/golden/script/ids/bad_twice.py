@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([64])
    ty = T.thread_id([128])
    A[0, 0] = 1.0
#--- expected
bad_twice.py:6:10: error: a CTA has 64 threads by `thread_id`, but 128 threads by `thread_id` [BadScopeIds]
        ty = T.thread_id([128])
             ^~~~~~~~~~~~~~~~~~
bad_twice.py:5:10: note: `thread_id([64])` is declared here
        tx = T.thread_id([64])
             ^~~~~~~~~~~~~~~~~
