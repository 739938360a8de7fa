@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[16, 0] = 1.0
    x = A[0, -17]
    A[0, -1] = 2.0
    p = A.ptr_to([0, 16])
    y = A[tx, 99]
#--- expected
bad_bounds.py:6:5: error: index 16 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        A[16, 0] = 1.0
        ^~~~~~~~
bad_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_bounds.py:7:9: error: index -17 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        x = A[0, -17]
            ^~~~~~~~~
bad_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_bounds.py:8:5: error: index -1 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        A[0, -1] = 2.0
        ^~~~~~~~
bad_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_bounds.py:9:18: error: index 16 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        p = A.ptr_to([0, 16])
                     ^~~~~~~
bad_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_bounds.py:10:9: error: index 99 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        y = A[tx, 99]
            ^~~~~~~~~
bad_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
