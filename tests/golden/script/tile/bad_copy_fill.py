@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (10, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy_async(S0, A[0:16, 0:16])
    Tx.cta.copy_async(S0[0:17, :], A[0:17, :], fill_mode="zero")
    Tx.cta.copy_async(S0[0:17, :], A[0:17, :])
    Tx.cta.copy(S0, A[0:16, 0:16], clip=True)
    Tx.cta.copy(A[0:16, 0:16], S0, fill_value=0)
    Tx.cta.sum(S0[0:16, 0], A[0:16, 0:16], fill_mode="zero")
#--- expected
bad_copy_fill.py:7:27: error: 0:16 in dimension 0 of `A`, which has extent 10 [OutOfBounds]
        Tx.cta.copy_async(S0, A[0:16, 0:16])
                              ^~~~~~~~~~~~~
bad_copy_fill.py:3:9: note: declared here
        A = T.match_buffer(a, (10, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_fill.py:9:23: error: 0:17 in dimension 0 of `S0`, which has extent 16 [OutOfBounds]
        Tx.cta.copy_async(S0[0:17, :], A[0:17, :])
                          ^~~~~~~~~~~
bad_copy_fill.py:6:10: note: declared here
        S0 = T.alloc_shared((16, 16), "float32")
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_fill.py:10:21: error: 0:16 in dimension 0 of `A`, which has extent 10 [OutOfBounds]
        Tx.cta.copy(S0, A[0:16, 0:16], clip=True)
                        ^~~~~~~~~~~~~
bad_copy_fill.py:3:9: note: declared here
        A = T.match_buffer(a, (10, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_fill.py:11:17: error: 0:16 in dimension 0 of `A`, which has extent 10 [OutOfBounds]
        Tx.cta.copy(A[0:16, 0:16], S0, fill_value=0)
                    ^~~~~~~~~~~~~
bad_copy_fill.py:3:9: note: declared here
        A = T.match_buffer(a, (10, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_fill.py:12:29: error: 0:16 in dimension 0 of `A`, which has extent 10 [OutOfBounds]
        Tx.cta.sum(S0[0:16, 0], A[0:16, 0:16], fill_mode="zero")
                                ^~~~~~~~~~~~~
bad_copy_fill.py:3:9: note: declared here
        A = T.match_buffer(a, (10, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
