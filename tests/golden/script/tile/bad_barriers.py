@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    if tx == 0:
        T.cuda.cta_sync()
    if tx < 16:
        T.cuda.warp_sync()
    if tx < 64:
        T.cuda.warpgroup_sync(1)
        T.cuda.warp_sync()
    if A[0, 0] > 0.0:
        T.tvm_storage_sync("shared")
    if tx < 64:
        T.tvm_storage_sync("shared")
#--- expected
bad_barriers.py:7:9: error: `T.cuda.cta_sync` is reached by thread 0 of 128, expected whole ctas [Divergent]
            T.cuda.cta_sync()
            ^~~~~~~~~~~~~~~~~
bad_barriers.py:6:8: note: `tx == 0` leaves out the others
        if tx == 0:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole ctas
bad_barriers.py:9:9: error: `T.cuda.warp_sync` is reached by threads 0-15 of 128, expected whole warps [Divergent]
            T.cuda.warp_sync()
            ^~~~~~~~~~~~~~~~~~
bad_barriers.py:8:8: note: `tx < 16` leaves out the others
        if tx < 16:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warps
bad_barriers.py:11:9: error: `T.cuda.warpgroup_sync` is reached by warps 0-1 of 4, expected whole warpgroups [Divergent]
            T.cuda.warpgroup_sync(1)
            ^~~~~~~~~~~~~~~~~~~~~~~~
bad_barriers.py:10:8: note: `tx < 64` leaves out the others
        if tx < 64:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warpgroups
bad_barriers.py:16:9: error: `T.tvm_storage_sync` is reached by warps 0-1 of 4, expected whole ctas [Divergent]
            T.tvm_storage_sync("shared")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_barriers.py:15:8: note: `tx < 64` leaves out the others
        if tx < 64:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole ctas
