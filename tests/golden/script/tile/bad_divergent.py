@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    s0 = T.alloc_shared((16, 16), "float32")
    if tx < 16:
        Tx.warp.copy(s0, A)
    if tx < 32:
        Tx.wg.zero(s0)
        Tx.warp.copy(s0, A)
    if A[0, tx % 16] > 0.0:
        Tx.cta.copy(s0, A)
#--- expected
bad_divergent.py:8:9: error: `copy` at warp scope is reached by threads 0-15 of 128, expected whole warps [Divergent]
            Tx.warp.copy(s0, A)
            ^~~~~~~~~~~~~~~~~~~
bad_divergent.py:7:8: note: `tx < 16` leaves out the others
        if tx < 16:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warps
bad_divergent.py:10:9: error: `zero` at warpgroup scope is reached by warp 0 of 4, expected whole warpgroups [Divergent]
            Tx.wg.zero(s0)
            ^~~~~~~~~~~~~~
bad_divergent.py:9:8: note: `tx < 32` leaves out the others
        if tx < 32:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warpgroups
bad_divergent.py:13:9: error: `copy` at cta scope is reached by some threads of all 128 threads, expected whole ctas [Divergent]
            Tx.cta.copy(s0, A)
            ^~~~~~~~~~~~~~~~~~
bad_divergent.py:12:8: note: `A[0, tx % 16] > T.float32(0.0)` may differ between threads of a cta
        if A[0, tx % 16] > 0.0:
           ^~~~~~~~~~~~~~~~~~~
bad_divergent.py:5:10: note: `tx` numbers threads
        tx = T.thread_id([128])
             ^~~~~~~~~~~~~~~~~~
  note: put it outside the `if`, or let the condition hold for whole ctas
