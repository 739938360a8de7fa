@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,), layout=None)
    T.device_entry()
    t = T.launch_thread("threadIdx.w", 32)
#--- expected
bad_launch.py:5:9: error: `threadIdx.w` is not a hardware id: expected `blockIdx`, `threadIdx` or `clusterCtaIdx` with `.x`, `.y` or `.z` [BadScopeIds]
        t = T.launch_thread("threadIdx.w", 32)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
