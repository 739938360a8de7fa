@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.fill(A, A[0:4, 0:4])
    Tx.fill(A, "x")
    Tx.fill(A, A.data)
#--- expected
bad_fill_value.py:6:16: error: region as a value of the kernel, expected a number or an expression [BadType]
        Tx.fill(A, A[0:4, 0:4])
                   ^~~~~~~~~~~
