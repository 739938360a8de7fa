@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128,), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    s = T.alloc_shared((4,), "float32")
    r = T.alloc_local((4,), "float32")
    v: T.float32 = A[tx]
    # through a name
    at = r.ptr_to([0])
    v = T.cuda.cta_sum(v, 4, at)
    # other warps than the CTA has
    v = T.cuda.cta_sum(v, 2, s.ptr_to([0]))
    # not all threads come
    if tx < 16:
        v = v + T.cuda.warp_reduce(v)
    if tx < 32:
        v = T.cuda.cta_sum(v, 4, s.ptr_to([0]))
        v = T.cuda.warp_reduce(v, "max", 8)
        T.tvm_storage_sync("warp")
    if tx < 8:
        T.tvm_storage_sync("warp")
    A[tx] = v
#--- expected
bad_reductions.py:11:30: error: `scratch` of `T.cuda.cta_reduce` leads to `r` in registers, expected a pointer into shared memory [BadArgument]
        v = T.cuda.cta_sum(v, 4, at)
                                 ^~
bad_reductions.py:7:9: note: declared here
        r = T.alloc_local((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_reductions.py:13:27: error: `num_warps` of `T.cuda.cta_reduce` is 2, the CTA has 4: 128 threads [BadArgument]
        v = T.cuda.cta_sum(v, 2, s.ptr_to([0]))
                              ^
bad_reductions.py:16:17: error: `T.cuda.warp_reduce` is reached by threads 0-15 of 128, expected whole warps [Divergent]
            v = v + T.cuda.warp_reduce(v)
                    ^~~~~~~~~~~~~~~~~~~~~
bad_reductions.py:15:8: note: `tx < 16` leaves out the others
        if tx < 16:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warps
bad_reductions.py:18:9: error: `T.cuda.cta_reduce` is reached by warp 0 of 4, expected whole ctas [Divergent]
            v = T.cuda.cta_sum(v, 4, s.ptr_to([0]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_reductions.py:17:8: note: `tx < 32` leaves out the others
        if tx < 32:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole ctas
bad_reductions.py:22:9: error: `T.tvm_storage_sync` is reached by threads 0-7 of 128, expected whole warps [Divergent]
            T.tvm_storage_sync("warp")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~
bad_reductions.py:21:8: note: `tx < 8` leaves out the others
        if tx < 8:
           ^~~~~~
  note: put it outside the `if`, or let the condition hold for whole warps
