@T.inline
def put(B, i):
    B[i, 0] = 1.0
    x = B[0, i] / 2

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    put(A, 0)
    put(A, 20)
#--- expected
bad_error_inside.py:3:5: error: index 20 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        B[i, 0] = 1.0
        ^~~~~~~
bad_error_inside.py:8:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_error_inside.py:4:9: error: index 20 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        x = B[0, i] / 2
            ^~~~~~~
bad_error_inside.py:8:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
