@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    x, y = T.thread_id([32])
    b = T.cta_id([2, 2])
    A[0, b] = 1.0
    A[0, 0] = 1.0
#--- expected
bad_unpack.py:5:5: error: cannot iterate over expression [Opaque]
        x, y = T.thread_id([32])
        ^~~~
bad_unpack.py:7:5: error: tuple as a value of the kernel, expected a number or an expression [BadType]
        A[0, b] = 1.0
        ^~~~~~~
