@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = T.sqroot(A[0, 1])
    T.alloc_share((4,), "float32")
    Tx.warp.coppy(A, A)
    T.ptx.ldmatrx.sync.aligned.m8n8.x1.shared.b16(A[0, 0], A.data)
    T.cuda.cta_synch()
    x = tx_ + 1
    A[0, 0] = A.shap[0]
    A.veiw(256)
#--- expected
bad_unknown_names.py:6:17: error: `T` has no `sqroot`; did you mean `sqrt`? [UnknownName]
        A[0, 0] = T.sqroot(A[0, 1])
                    ^~~~~~
bad_unknown_names.py:7:7: error: `T` has no `alloc_share`; did you mean `alloc_shared`? [UnknownName]
        T.alloc_share((4,), "float32")
          ^~~~~~~~~~~
bad_unknown_names.py:8:13: error: `Tx.warp` has no `coppy`; did you mean `copy`? [UnknownName]
        Tx.warp.coppy(A, A)
                ^~~~~
bad_unknown_names.py:9:5: error: `ldmatrx.sync.aligned.m8n8.x1.shared.b16` is not a PTX instruction; did you mean `ldmatrix`? [UnknownName]
        T.ptx.ldmatrx.sync.aligned.m8n8.x1.shared.b16(A[0, 0], A.data)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_unknown_names.py:10:12: error: `T.cuda` has no `cta_synch`; did you mean `cta_sync`? [UnknownName]
        T.cuda.cta_synch()
               ^~~~~~~~~
bad_unknown_names.py:11:9: error: `tx_` has no value here; did you mean `tx`? [UnknownName]
        x = tx_ + 1
            ^~~
bad_unknown_names.py:12:17: error: buffer has no `shap` [UnknownName]
        A[0, 0] = A.shap[0]
                    ^~~~
bad_unknown_names.py:13:7: error: buffer has no `veiw`; did you mean `view`? [UnknownName]
        A.veiw(256)
          ^~~~
