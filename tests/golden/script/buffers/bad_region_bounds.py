@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.copy(A[0:17, :], A[0:17, :])
    Tx.copy(A[8:4, :], A[8:4, :])
    Tx.copy(A[16, :], A[0, :])
    Tx.copy(A[0:18:2, :], A[0:4, :])
#--- expected
bad_region_bounds.py:6:13: error: 0:17 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        Tx.copy(A[0:17, :], A[0:17, :])
                ^~~~~~~~~~
bad_region_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_region_bounds.py:7:13: error: 8:4 in dimension 0 of `A`, which has extent 16, is empty [OutOfBounds]
        Tx.copy(A[8:4, :], A[8:4, :])
                ^~~~~~~~~
bad_region_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_region_bounds.py:8:13: error: index 16 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        Tx.copy(A[16, :], A[0, :])
                ^~~~~~~~
bad_region_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_region_bounds.py:9:13: error: 0:9 in dimension 0 of `A_by_step`, which has extent 8 [OutOfBounds]
        Tx.copy(A[0:18:2, :], A[0:4, :])
                ^~~~~~~~~~~~
bad_region_bounds.py:9:13: note: declared here
        Tx.copy(A[0:18:2, :], A[0:4, :])
                ^~~~~~~~~~~~
