@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.warp.gemm(A, A, A, A, alpha="x")
    Tx.sum(A, A, axes=(0, 1))
    Tx.copy(A, A, config=3)
#--- expected
bad_settings.py:6:36: error: `alpha` is str, expected a number [BadType]
        Tx.warp.gemm(A, A, A, A, alpha="x")
                                       ^~~
