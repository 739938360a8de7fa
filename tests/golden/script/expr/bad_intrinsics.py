@T.prim_func
def f(a: T.handle, b: T.handle, p: T.handle):
    A = T.match_buffer(a, (128,), "float32")
    B = T.match_buffer(b, (128,), "int32")
    T.device_entry()
    tx = T.thread_id([128])
    s = T.alloc_shared((4,), "float32")
    few = T.alloc_shared((3,), "float32")
    half = T.alloc_shared((4,), "float16")
    r = T.alloc_local((4,), "float32")
    v: T.float32 = A[tx]
    # the order of the arguments
    v = T.cuda.cta_reduce(v, 4, s.ptr_to([0]), "max")
    v = T.cuda.cta_reduce(v, "mean", 4, s.ptr_to([0]))
    # the scratch
    v = T.cuda.cta_reduce(v, "sum", 4, r.ptr_to([0]))
    v = T.cuda.cta_reduce(v, "sum", 4, A.ptr_to([0]))
    v = T.cuda.cta_sum(v, 4, few.ptr_to([0]))
    v = T.cuda.cta_sum(v, 4, s.ptr_to([1]))
    v = T.cuda.cta_sum(v, 4, half.ptr_to([0]))
    v = T.cuda.cta_sum(v, 4, 0)
    # the number of warps
    v = T.cuda.cta_sum(v, tx, s.ptr_to([0]))
    v = T.cuda.cta_reduce(v, "sum", scratch=s.ptr_to([0]))
    # lanes that belong together
    v = T.cuda.warp_reduce(v, "sum", 12)
    v = T.cuda.warp_reduce(v, "sum", tx)
    v = T.cuda.warp_reduce(v, 32)
    v = T.cuda.warp_reduce(s.ptr_to([0]))
    v = T.cuda.shfl_sync(0xffffffff, v, 0, 5)
    # where pointers lead
    T.cuda.atomic_add(r.ptr_to([0]), 1.0)
    v = T.cuda.ldg(s.ptr_to([0]))
    T.cuda.mbarrier_wait(A.ptr_to([0]), 0)
    w = T.cuda.cvta_generic_to_shared(A.ptr_to([0]))
    T.cuda.copy_bytes(s.ptr_to([0]), v, 4)
    T.cuda.warpgroup_sync(16)
    T.cuda.warpgroup_sync(v)
    # formats
    T.cuda.printf("%d %d", tx)
    T.cuda.printf("%d", v)
    T.cuda.printf("%f", tx)
    T.cuda.printf("%*d", tx, tx)
    T.cuda.printf(tx)
    A[tx] = v
#--- expected
bad_intrinsics.py:13:30: error: `op` of `T.cuda.cta_reduce` is `int32`, expected "sum", "max" or "min" [BadType]
        v = T.cuda.cta_reduce(v, 4, s.ptr_to([0]), "max")
                                 ^
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_intrinsics.py:14:30: error: `op` of `T.cuda.cta_reduce` is "mean", expected "sum", "max" or "min" [BadArgument]
        v = T.cuda.cta_reduce(v, "mean", 4, s.ptr_to([0]))
                                 ^~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_intrinsics.py:16:40: error: `scratch` of `T.cuda.cta_reduce` leads to `r` in registers, expected a pointer into shared memory [BadArgument]
        v = T.cuda.cta_reduce(v, "sum", 4, r.ptr_to([0]))
                                           ^~~~~~~~~~~~~
bad_intrinsics.py:10:9: note: declared here
        r = T.alloc_local((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_intrinsics.py:17:40: error: `scratch` of `T.cuda.cta_reduce` leads to `A` in global memory, expected a pointer into shared memory [BadArgument]
        v = T.cuda.cta_reduce(v, "sum", 4, A.ptr_to([0]))
                                           ^~~~~~~~~~~~~
bad_intrinsics.py:3:9: note: declared here
        A = T.match_buffer(a, (128,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_intrinsics.py:18:30: error: `scratch` of `T.cuda.cta_reduce` has room for 3 of `float32`, expected 4: one for each warp [BadArgument]
        v = T.cuda.cta_sum(v, 4, few.ptr_to([0]))
                                 ^~~~~~~~~~~~~~~
bad_intrinsics.py:8:11: note: declared here
        few = T.alloc_shared((3,), "float32")
              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_intrinsics.py:19:30: error: `scratch` of `T.cuda.cta_reduce` has room for 3 of `float32`, expected 4: one for each warp [BadArgument]
        v = T.cuda.cta_sum(v, 4, s.ptr_to([1]))
                                 ^~~~~~~~~~~~~
bad_intrinsics.py:7:9: note: declared here
        s = T.alloc_shared((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_intrinsics.py:20:30: error: `scratch` of `T.cuda.cta_reduce` is `handle(float16)`, expected a pointer to `float32` [BadType]
        v = T.cuda.cta_sum(v, 4, half.ptr_to([0]))
                                 ^~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_intrinsics.py:21:30: error: `scratch` of `T.cuda.cta_reduce` is `int32`, expected a pointer into shared memory [BadType]
        v = T.cuda.cta_sum(v, 4, 0)
                                 ^
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_intrinsics.py:23:27: error: `num_warps` of `T.cuda.cta_reduce` is known at run time only, expected a constant from 1 to 32 [BadArgument]
        v = T.cuda.cta_sum(v, tx, s.ptr_to([0]))
                              ^~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
bad_intrinsics.py:24:9: error: `T.cuda.cta_reduce` without `num_warps` [BadArgument]
        v = T.cuda.cta_reduce(v, "sum", scratch=s.ptr_to([0]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (value, op, num_warps, scratch)
bad_intrinsics.py:26:38: error: `width` of `T.cuda.warp_reduce` is 12, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        v = T.cuda.warp_reduce(v, "sum", 12)
                                         ^~
  note: it takes `T.cuda.warp_reduce(value, op, width)`
bad_intrinsics.py:27:38: error: `width` of `T.cuda.warp_reduce` is known at run time only, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        v = T.cuda.warp_reduce(v, "sum", tx)
                                         ^~
  note: it takes `T.cuda.warp_reduce(value, op, width)`
bad_intrinsics.py:28:31: error: `op` of `T.cuda.warp_reduce` is `int32`, expected "sum", "max" or "min" [BadType]
        v = T.cuda.warp_reduce(v, 32)
                                  ^~
  note: it takes `T.cuda.warp_reduce(value, op, width)`
bad_intrinsics.py:29:28: error: `value` of `T.cuda.warp_reduce` is `handle(float32)`, expected a number [BadType]
        v = T.cuda.warp_reduce(s.ptr_to([0]))
                               ^~~~~~~~~~~~~
  note: it takes `T.cuda.warp_reduce(value, op, width)`
bad_intrinsics.py:30:44: error: a width of 5 lanes, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        v = T.cuda.shfl_sync(0xffffffff, v, 0, 5)
                                               ^
bad_intrinsics.py:32:23: error: `pointer` of `T.cuda.atomic_add` leads to `r` in registers, expected a pointer into global or shared memory [BadArgument]
        T.cuda.atomic_add(r.ptr_to([0]), 1.0)
                          ^~~~~~~~~~~~~
bad_intrinsics.py:10:9: note: declared here
        r = T.alloc_local((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.atomic_add(pointer, value)`
bad_intrinsics.py:33:20: error: `pointer` of `T.cuda.ldg` leads to `s` in shared memory, expected a pointer into global memory [BadArgument]
        v = T.cuda.ldg(s.ptr_to([0]))
                       ^~~~~~~~~~~~~
bad_intrinsics.py:7:9: note: declared here
        s = T.alloc_shared((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.ldg(pointer)`
bad_intrinsics.py:34:26: error: `pointer` of `T.cuda.mbarrier_wait` leads to `A` in global memory, expected a pointer into shared memory [BadArgument]
        T.cuda.mbarrier_wait(A.ptr_to([0]), 0)
                             ^~~~~~~~~~~~~
bad_intrinsics.py:3:9: note: declared here
        A = T.match_buffer(a, (128,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.mbarrier_wait(pointer, phase)`
bad_intrinsics.py:35:39: error: `pointer` of `T.cuda.cvta_generic_to_shared` leads to `A` in global memory, expected a pointer into shared memory [BadArgument]
        w = T.cuda.cvta_generic_to_shared(A.ptr_to([0]))
                                          ^~~~~~~~~~~~~
bad_intrinsics.py:3:9: note: declared here
        A = T.match_buffer(a, (128,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cvta_generic_to_shared(pointer)`
bad_intrinsics.py:36:38: error: `src` of `T.cuda.copy_bytes` is `float32`, expected a pointer [BadType]
        T.cuda.copy_bytes(s.ptr_to([0]), v, 4)
                                         ^
  note: it takes `T.cuda.copy_bytes(dst, src, bytes)`
bad_intrinsics.py:37:27: error: `barrier` of `T.cuda.warpgroup_sync` is 16, expected the number of a barrier, 0 to 15 [BadArgument]
        T.cuda.warpgroup_sync(16)
                              ^~
  note: it takes `T.cuda.warpgroup_sync(barrier)`
bad_intrinsics.py:38:27: error: `barrier` of `T.cuda.warpgroup_sync` is `float32`, expected the number of a barrier, 0 to 15 [BadType]
        T.cuda.warpgroup_sync(v)
                              ^
  note: it takes `T.cuda.warpgroup_sync(barrier)`
bad_intrinsics.py:40:19: error: `T.cuda.printf` has 2 conversions in its format, but 1 value [BadArgument]
        T.cuda.printf("%d %d", tx)
                      ^~~~~~~
  note: it takes `T.cuda.printf(format, *values)`
bad_intrinsics.py:41:25: error: `%d` of `T.cuda.printf` with `float32`, expected an integer [BadType]
        T.cuda.printf("%d", v)
                            ^
  note: it takes `T.cuda.printf(format, *values)`
bad_intrinsics.py:42:25: error: `%f` of `T.cuda.printf` with `int32`, expected a float [BadType]
        T.cuda.printf("%f", tx)
                            ^~
  note: it takes `T.cuda.printf(format, *values)`
bad_intrinsics.py:43:19: error: an unknown conversion in the format of `T.cuda.printf`, expected %d %i %o %u %x %c %f %e %g %a %s %p [BadArgument]
        T.cuda.printf("%*d", tx, tx)
                      ^~~~~
  note: it takes `T.cuda.printf(format, *values)`
bad_intrinsics.py:44:19: error: `format` of `T.cuda.printf` is `int32`, expected a text [BadType]
        T.cuda.printf(tx)
                      ^~
  note: it takes `T.cuda.printf(format, *values)`
