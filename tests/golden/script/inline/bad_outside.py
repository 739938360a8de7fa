@T.inline
def twice(x):
    y = x + x

n = twice(1)

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[tx, 0] = n
#--- expected
bad_outside.py:12:16: error: this value is not known at compile time: the inline function `twice` is called outside of a kernel [Opaque]
        A[tx, 0] = n
                   ^
bad_outside.py:5:1: note: it comes from here
    n = twice(1)
    ^~~~~~~~~~~~
