# Names that other languages have.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.load(S0, A)
    Tx.block.copy(S0, A)
    T.cuda.syncthreads()
    A[0:4, 0:4] = S0[0:4, 0:4]
#--- expected
bad_names.py:8:12: error: `Tx.cta` has no `load`; did you mean `copy`? [UnknownName]
        Tx.cta.load(S0, A)
               ^~~~
bad_names.py:9:8: error: `Tx` has no `block`; did you mean `cta`? [UnknownName]
        Tx.block.copy(S0, A)
           ^~~~~
bad_names.py:10:12: error: `T.cuda` has no `syncthreads`; did you mean `cta_sync`? [UnknownName]
        T.cuda.syncthreads()
               ^~~~~~~~~~~
bad_names.py:11:19: error: a region is assigned to `A`, expected a number or an expression [BadType]
        A[0:4, 0:4] = S0[0:4, 0:4]
                      ^~~~~~~~~~~~
  note: `Tx.copy(dst, src)` copies regions, by a thread; `Tx.warp.copy`, `Tx.wg.copy`, `Tx.cta.copy` by more
