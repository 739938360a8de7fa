@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    for i in T.thread_binding(4, "threadIdx.w"):
        pass
#--- expected
bad_thread_tag.py:5:34: error: a loop over `threadIdx.w`, expected `blockIdx` or `threadIdx` with `.x`, `.y` or `.z` [BadArgument]
        for i in T.thread_binding(4, "threadIdx.w"):
                                     ^~~~~~~~~~~~~
