#=== address
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    p = T.address_of(tx)
    q = T.address_of(A[0, 0] + 1)
    r = T.address_of(A[0:2, 0])
#--- expected
address.py:6:22: error: the address of an expression, expected an element of a buffer [BadType]
        p = T.address_of(tx)
                         ^~
address.py:7:22: error: the address of an expression, expected an element of a buffer [BadType]
        q = T.address_of(A[0, 0] + 1)
                         ^~~~~~~~~~~
address.py:8:22: error: the address of region, expected an element of a buffer [BadType]
        r = T.address_of(A[0:2, 0])
                         ^~~~~~~~~
#=== argument_counts
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = T.max(1)
    A[0, 0] = T.sqrt(A[0, 0], 2.0)
    T.alloc_shared()
    T.alloc_shared((4,), "float32", scop="shared")
    T.cuda.cta_sync(1)
    T.cast(tx)
    T.cast(tx, "float32", value=3)
#--- expected
argument_counts.py:6:15: error: `T.max` without `b` [BadArgument]
        A[0, 0] = T.max(1)
                  ^~~~~~~~
  note: it takes (a, b)
argument_counts.py:7:31: error: `T.sqrt` with 2 arguments, expected at most 1 [BadArgument]
        A[0, 0] = T.sqrt(A[0, 0], 2.0)
                                  ^~~
  note: it takes (x)
argument_counts.py:8:5: error: `T.alloc_shared` without `shape` [BadArgument]
        T.alloc_shared()
        ^~~~~~~~~~~~~~~~
  note: it takes (shape, dtype?, data?, strides?, elem_offset?, scope?, align?, offset_factor?, buffer_type?, axis_separators?, layout?, byte_offset?, allocated_addr?)
argument_counts.py:9:37: error: `T.alloc_shared` has no parameter `scop`; did you mean `scope`? [BadArgument]
        T.alloc_shared((4,), "float32", scop="shared")
                                        ^~~~
  note: it takes (shape, dtype?, data?, strides?, elem_offset?, scope?, align?, offset_factor?, buffer_type?, axis_separators?, layout?, byte_offset?, allocated_addr?)
argument_counts.py:10:21: error: `T.cuda.cta_sync` with 1 argument, expected at most 0 [BadArgument]
        T.cuda.cta_sync(1)
                        ^
  note: it takes ()
argument_counts.py:11:5: error: `T.cast` without `dtype` [BadArgument]
        T.cast(tx)
        ^~~~~~~~~~
  note: it takes (value, dtype)
argument_counts.py:12:27: error: `value` of `T.cast` is given twice [BadArgument]
        T.cast(tx, "float32", value=3)
                              ^~~~~
#=== atomics
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    h = T.alloc_local((1,), "float32")
    T.cuda.atomic_add(A[0, 0], 1.0)
    T.cuda.atomic_and(A.ptr_to([0, 0]), 1)
    T.cuda.atomic_add(tx, 1)
#--- expected
atomics.py:7:23: error: `T.cuda.atomic_add` of `float32`, expected a pointer to elements [BadType]
        T.cuda.atomic_add(A[0, 0], 1.0)
                          ^~~~~~~
atomics.py:8:23: error: `T.cuda.atomic_and` of `handle(float32)`, expected a pointer to integers [BadType]
        T.cuda.atomic_and(A.ptr_to([0, 0]), 1)
                          ^~~~~~~~~~~~~~~~
atomics.py:9:23: error: `T.cuda.atomic_add` of `int32`, expected a pointer to elements [BadType]
        T.cuda.atomic_add(tx, 1)
                          ^~
#=== bool_number
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = (tx < 3) + 1
    y = -(tx < 3)
    A[0, 0] = (tx < 3) * A[0, 1]
#--- expected
bool_number.py:6:9: error: `+` of `bool` [BadType]
        x = (tx < 3) + 1
            ^~~~~~~~~~~~
  note: a condition as a number: `T.cast(x, "int32")`
bool_number.py:7:9: error: `-` of `bool` [BadType]
        y = -(tx < 3)
            ^~~~~~~~~
  note: a condition as a number: `T.cast(x, "int32")`
bool_number.py:8:15: error: `*` of `bool` and `float32` [BadType]
        A[0, 0] = (tx < 3) * A[0, 1]
                  ^~~~~~~~~~~~~~~~~~
  note: convert one side: `T.cast(x, dtype)`
#=== condition
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    if A[0, 0]:
        pass
    while "x":
        pass
    if A:
        pass
    if A[0:4, 0]:
        pass
    x = 1 if A[0, 0] else 2
#--- expected
condition.py:6:8: error: a condition of type `float32`, expected `bool` or an integer [BadType]
        if A[0, 0]:
           ^~~~~~~
condition.py:8:11: error: a condition of type `text`, expected `bool` or an integer [BadType]
        while "x":
              ^~~
condition.py:10:8: error: `A` is a buffer, expected a number: give indices for an element, or use `Tx` for the whole tile, as in `Tx.cta.exp(y, x)` [BadType]
        if A:
           ^
condition.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
condition.py:12:8: error: region as a value of the kernel, expected a number or an expression [BadType]
        if A[0:4, 0]:
           ^~~~~~~~~
condition.py:14:9: error: a condition of type `float32`, expected `bool` or an integer [BadType]
        x = 1 if A[0, 0] else 2
            ^~~~~~~~~~~~~~~~~~~
#=== constant_fit
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int8 = 200
    y: T.uint8 = -1
    z = tx + 4294967296
    w: T.let = T.int32(2147483648)
    h: T.let = T.float16(1e6)
#--- expected
constant_fit.py:6:17: error: the constant 200 does not fit `int8` [BadType]
        x: T.int8 = 200
                    ^~~
constant_fit.py:7:18: error: the constant -1 does not fit `uint8` [BadType]
        y: T.uint8 = -1
                     ^~
constant_fit.py:8:9: error: `+` of `int32` and the constant 4294967296, which `int32` does not hold [BadType]
        z = tx + 4294967296
            ^~~~~~~~~~~~~~~
constant_fit.py:9:16: error: the constant 2147483648 does not fit `int32` [BadType]
        w: T.let = T.int32(2147483648)
                   ^~~~~~~~~~~~~~~~~~~
constant_fit.py:10:16: error: the constant 1000000 does not fit `float16` [BadType]
        h: T.let = T.float16(1e6)
                   ^~~~~~~~~~~~~~
  note: the largest `float16` is 65504
#=== divide_by_zero
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = tx // 0
    y = tx % 0
    A[0, 0] = A[0, 0] / 0
#--- expected
divide_by_zero.py:6:9: error: `//` by 0 [BadArgument]
        x = tx // 0
            ^~~~~~~
divide_by_zero.py:7:9: error: `%` by 0 [BadArgument]
        y = tx % 0
            ^~~~~~
#=== dtype_names
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_local((4,), "float31")
    y = T.cast(tx, "int")
    z = T.alloc_local((4,), "float32x4")
    w: T.floot32 = 1.0
#--- expected
dtype_names.py:6:29: error: `float31` is not an element type; did you mean `float32`? [UnknownName]
        x = T.alloc_local((4,), "float31")
                                ^~~~~~~~~
dtype_names.py:8:29: error: elements of type `float32x4`, expected a scalar type [BadBuffer]
        z = T.alloc_local((4,), "float32x4")
                                ^~~~~~~~~~~
dtype_names.py:9:10: error: `T` has no `floot32`; did you mean `floor`? [UnknownName]
        w: T.floot32 = 1.0
             ^~~~~~~
#=== effect_written_out
# An effect happens as often as it is written: it cannot be computed ahead, under a name.
from tvm.script import tirx as T


def doubled(x):
    for i in range(60):
        x = x + x
    return x


@T.prim_func
def k(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "int32")
    B = T.match_buffer(B_ptr, (64,), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    B[tid] = doubled(T.cuda.atomic_add(A.ptr_to([0]), 1))
#--- expected
effect_written_out.py:7:13: error: an expression of more than 4611686018427387904 operations when its shared parts are written out, expected at most 1048576 [Budget]
            x = x + x
                ^~~~~
  note: give a part of it a name: `x: T.let = …`
#=== int_divide
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = tx / 4
    y = T.int64(3) / tx
    A[0, 0] = x + y
#--- expected
int_divide.py:6:9: error: `/` of `int32` [BadType]
        x = tx / 4
            ^~~~~~
  note: `/` divides floats; `//` is integer division, rounding down
int_divide.py:7:9: error: `/` of `int64` [BadType]
        y = T.int64(3) / tx
            ^~~~~~~~~~~~~~~
  note: `/` divides floats; `//` is integer division, rounding down
#=== intrinsics
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
intrinsics.py:13:30: error: `op` of `T.cuda.cta_reduce` is `int32`, expected "sum", "max" or "min" [BadType]
        v = T.cuda.cta_reduce(v, 4, s.ptr_to([0]), "max")
                                 ^
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
intrinsics.py:14:30: error: `op` of `T.cuda.cta_reduce` is "mean", expected "sum", "max" or "min" [BadArgument]
        v = T.cuda.cta_reduce(v, "mean", 4, s.ptr_to([0]))
                                 ^~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
intrinsics.py:16:40: error: `scratch` of `T.cuda.cta_reduce` leads to `r` in registers, expected a pointer into shared memory [BadArgument]
        v = T.cuda.cta_reduce(v, "sum", 4, r.ptr_to([0]))
                                           ^~~~~~~~~~~~~
intrinsics.py:10:9: note: declared here
        r = T.alloc_local((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
intrinsics.py:17:40: error: `scratch` of `T.cuda.cta_reduce` leads to `A` in global memory, expected a pointer into shared memory [BadArgument]
        v = T.cuda.cta_reduce(v, "sum", 4, A.ptr_to([0]))
                                           ^~~~~~~~~~~~~
intrinsics.py:3:9: note: declared here
        A = T.match_buffer(a, (128,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
intrinsics.py:18:30: error: `scratch` of `T.cuda.cta_reduce` has room for 3 of `float32`, expected 4: one for each warp [BadArgument]
        v = T.cuda.cta_sum(v, 4, few.ptr_to([0]))
                                 ^~~~~~~~~~~~~~~
intrinsics.py:8:11: note: declared here
        few = T.alloc_shared((3,), "float32")
              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
intrinsics.py:19:30: error: `scratch` of `T.cuda.cta_reduce` has room for 3 of `float32`, expected 4: one for each warp [BadArgument]
        v = T.cuda.cta_sum(v, 4, s.ptr_to([1]))
                                 ^~~~~~~~~~~~~
intrinsics.py:7:9: note: declared here
        s = T.alloc_shared((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
intrinsics.py:20:30: error: `scratch` of `T.cuda.cta_reduce` is `handle(float16)`, expected a pointer to `float32` [BadType]
        v = T.cuda.cta_sum(v, 4, half.ptr_to([0]))
                                 ^~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
intrinsics.py:21:30: error: `scratch` of `T.cuda.cta_reduce` is `int32`, expected a pointer into shared memory [BadType]
        v = T.cuda.cta_sum(v, 4, 0)
                                 ^
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
intrinsics.py:23:27: error: `num_warps` of `T.cuda.cta_reduce` is known at run time only, expected a constant from 1 to 32 [BadArgument]
        v = T.cuda.cta_sum(v, tx, s.ptr_to([0]))
                              ^~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
intrinsics.py:24:9: error: `T.cuda.cta_reduce` without `num_warps` [BadArgument]
        v = T.cuda.cta_reduce(v, "sum", scratch=s.ptr_to([0]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (value, op, num_warps, scratch)
intrinsics.py:26:38: error: `width` of `T.cuda.warp_reduce` is 12, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        v = T.cuda.warp_reduce(v, "sum", 12)
                                         ^~
  note: it takes `T.cuda.warp_reduce(value, op, width)`
intrinsics.py:27:38: error: `width` of `T.cuda.warp_reduce` is known at run time only, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        v = T.cuda.warp_reduce(v, "sum", tx)
                                         ^~
  note: it takes `T.cuda.warp_reduce(value, op, width)`
intrinsics.py:28:31: error: `op` of `T.cuda.warp_reduce` is `int32`, expected "sum", "max" or "min" [BadType]
        v = T.cuda.warp_reduce(v, 32)
                                  ^~
  note: it takes `T.cuda.warp_reduce(value, op, width)`
intrinsics.py:29:28: error: `value` of `T.cuda.warp_reduce` is `handle(float32)`, expected a number [BadType]
        v = T.cuda.warp_reduce(s.ptr_to([0]))
                               ^~~~~~~~~~~~~
  note: it takes `T.cuda.warp_reduce(value, op, width)`
intrinsics.py:30:44: error: a width of 5 lanes, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        v = T.cuda.shfl_sync(0xffffffff, v, 0, 5)
                                               ^
intrinsics.py:32:23: error: `pointer` of `T.cuda.atomic_add` leads to `r` in registers, expected a pointer into global or shared memory [BadArgument]
        T.cuda.atomic_add(r.ptr_to([0]), 1.0)
                          ^~~~~~~~~~~~~
intrinsics.py:10:9: note: declared here
        r = T.alloc_local((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.atomic_add(pointer, value)`
intrinsics.py:33:20: error: `pointer` of `T.cuda.ldg` leads to `s` in shared memory, expected a pointer into global memory [BadArgument]
        v = T.cuda.ldg(s.ptr_to([0]))
                       ^~~~~~~~~~~~~
intrinsics.py:7:9: note: declared here
        s = T.alloc_shared((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.ldg(pointer)`
intrinsics.py:34:26: error: `pointer` of `T.cuda.mbarrier_wait` leads to `A` in global memory, expected a pointer into shared memory [BadArgument]
        T.cuda.mbarrier_wait(A.ptr_to([0]), 0)
                             ^~~~~~~~~~~~~
intrinsics.py:3:9: note: declared here
        A = T.match_buffer(a, (128,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.mbarrier_wait(pointer, phase)`
intrinsics.py:35:39: error: `pointer` of `T.cuda.cvta_generic_to_shared` leads to `A` in global memory, expected a pointer into shared memory [BadArgument]
        w = T.cuda.cvta_generic_to_shared(A.ptr_to([0]))
                                          ^~~~~~~~~~~~~
intrinsics.py:3:9: note: declared here
        A = T.match_buffer(a, (128,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cvta_generic_to_shared(pointer)`
intrinsics.py:36:38: error: `src` of `T.cuda.copy_bytes` is `float32`, expected a pointer [BadType]
        T.cuda.copy_bytes(s.ptr_to([0]), v, 4)
                                         ^
  note: it takes `T.cuda.copy_bytes(dst, src, bytes)`
intrinsics.py:37:27: error: `barrier` of `T.cuda.warpgroup_sync` is 16, expected the number of a barrier, 0 to 15 [BadArgument]
        T.cuda.warpgroup_sync(16)
                              ^~
  note: it takes `T.cuda.warpgroup_sync(barrier)`
intrinsics.py:38:27: error: `barrier` of `T.cuda.warpgroup_sync` is `float32`, expected the number of a barrier, 0 to 15 [BadType]
        T.cuda.warpgroup_sync(v)
                              ^
  note: it takes `T.cuda.warpgroup_sync(barrier)`
intrinsics.py:40:19: error: `T.cuda.printf` has 2 conversions in its format, but 1 value [BadArgument]
        T.cuda.printf("%d %d", tx)
                      ^~~~~~~
  note: it takes `T.cuda.printf(format, *values)`
intrinsics.py:41:25: error: `%d` of `T.cuda.printf` with `float32`, expected an integer [BadType]
        T.cuda.printf("%d", v)
                            ^
  note: it takes `T.cuda.printf(format, *values)`
intrinsics.py:42:25: error: `%f` of `T.cuda.printf` with `int32`, expected a float [BadType]
        T.cuda.printf("%f", tx)
                            ^~
  note: it takes `T.cuda.printf(format, *values)`
intrinsics.py:43:19: error: an unknown conversion in the format of `T.cuda.printf`, expected %d %i %o %u %x %c %f %e %g %a %s %p [BadArgument]
        T.cuda.printf("%*d", tx, tx)
                      ^~~~~
  note: it takes `T.cuda.printf(format, *values)`
intrinsics.py:44:19: error: `format` of `T.cuda.printf` is `int32`, expected a text [BadType]
        T.cuda.printf(tx)
                      ^~
  note: it takes `T.cuda.printf(format, *values)`
#=== lanes
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    v = A.vload([0, 0], "float32x4")
    w = A.vload([0, 0], "float32x2")
    x = v + w
    A[0, 0] = v + w
    A.vstore([0, 14], v)
    y = T.Broadcast(A[0, 0], 0)
    z = T.Ramp(tx, 1, 65537)
#--- expected
lanes.py:8:9: error: `+` of `float32x4` and `float32x2` [BadType]
        x = v + w
            ^~~~~
lanes.py:9:15: error: `+` of `float32x4` and `float32x2` [BadType]
        A[0, 0] = v + w
                  ^~~~~
lanes.py:10:14: error: index 17 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        A.vstore([0, 14], v)
                 ^~~~~~~
lanes.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
lanes.py:11:9: error: a vector of 0 lanes, expected 1 to 1024 [BadType]
        y = T.Broadcast(A[0, 0], 0)
            ^~~~~~~~~~~~~~~~~~~~~~~
lanes.py:12:9: error: a vector of 65537 lanes, expected 1 to 1024 [BadType]
        z = T.Ramp(tx, 1, 65537)
            ^~~~~~~~~~~~~~~~~~~~
#=== math_of_int
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = T.exp(tx)
    x = T.popcount(A[0, 0])
    y = T.isnan(tx)
#--- expected
math_of_int.py:6:21: error: `T.exp` of `int32`, expected a float [BadType]
        A[0, 0] = T.exp(tx)
                        ^~
math_of_int.py:7:20: error: `value` of `T.popcount` is `float32`, expected an integer [BadType]
        x = T.popcount(A[0, 0])
                       ^~~~~~~
  note: it takes `T.popcount(value)`
math_of_int.py:8:17: error: `T.isnan` of `int32`, expected a float [BadType]
        y = T.isnan(tx)
                    ^~
#=== mod_float
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = A[0, 0] % 3
    y = A[0, 0] // 3
#--- expected
mod_float.py:6:9: error: `%` of `float32` [BadType]
        x = A[0, 0] % 3
            ^~~~~~~~~~~
  note: `//` and `%` are for integers
mod_float.py:7:9: error: `//` of `float32` [BadType]
        y = A[0, 0] // 3
            ^~~~~~~~~~~~
  note: `//` and `%` are for integers
#=== not_taken
# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((32,), "float32"), U: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = T.load(A, t)
    A[t] = T.cuda.clock64()
    A[t] = T.nvshmem.my_pe()
    A[t] = T.atan2(A[t], A[t])
    U[t] = T.cuda.reduce_min_sync_u32(T.uint32(0xFF), U[t])
    A[t] = T.cuda.cta_reduce(A[t])
#--- expected
not_taken.py:10:14: error: `T.load` is not taken: `A[i]` reads an element, `B.vload([i], dtype=)` a vector [UnknownName]
        A[t] = T.load(A, t)
                 ^~~~
not_taken.py:11:19: error: `T.cuda.clock64` is not taken: there is no clock: what a program computes does not depend on time [UnknownName]
        A[t] = T.cuda.clock64()
                      ^~~~~~~
not_taken.py:12:14: error: `T.nvshmem` is not taken: there is one GPU [UnknownName]
        A[t] = T.nvshmem.my_pe()
                 ^~~~~~~
not_taken.py:13:14: error: `T.atan2` is not taken: no instruction computes it [UnknownName]
        A[t] = T.atan2(A[t], A[t])
                 ^~~~~
not_taken.py:14:39: error: a mask of 0xff, expected 0xffffffff: the whole warp [BadArgument]
        U[t] = T.cuda.reduce_min_sync_u32(T.uint32(0xFF), U[t])
                                          ^~~~~~~~~~~~~~
  note: `T.ptx["redux.sync.min.u32"](d, a, mask)` takes any mask
not_taken.py:15:12: error: `T.cuda.cta_reduce` without `op` [BadArgument]
        A[t] = T.cuda.cta_reduce(A[t])
               ^~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (value, op, num_warps, scratch)
#=== not_taken_more
# SPDX-License-Identifier: Apache-2.0
from tvm.backend.cuda.lang import SmemDescriptor
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.lang.tile_scheduler import RankAwareGroupMajorTileScheduler
from tvm.tirx.layout import S, TileLayout

L = TileLayout(S[(8, 8)])


@T.prim_func
def kernel(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    with RankAwareGroupMajorTileScheduler(t, 1):
        A[t] = 0.0
    bar = SmemDescriptor(A, 1)
    bar.make(0)
    T.ptx.add_f32(A.ptr_to([0]), A[1], A[2])
    T.ptx.ld(A.ptr_to([0]), "float32", "f32", cache_hint="evict_last")
    Tx.warp.binary_chain(A, A)
    A[t] = L.is_tile_inner(L, [8], [8])
    A[t] = T.constexpr(t)
    A[t] = T.reinterpret("float32")
    p: T.let = T.reinterpret("handle", T.uint64(16))
#--- expected
not_taken_more.py:16:10: error: this value is not known at compile time: `RankAwareGroupMajorTileScheduler` of module `tvm.tirx.lang.tile_scheduler` is not taken: it asks NVSHMEM for the rank; `T.ClusterPersistentScheduler2D` schedules the tiles of one GPU [Opaque]
        with RankAwareGroupMajorTileScheduler(t, 1):
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
not_taken_more.py:19:5: error: this value is not known at compile time: `SmemDescriptor` of module `tvm.backend.cuda.lang` is not taken: descriptors are made by `gemm_async` [Opaque]
        bar.make(0)
        ^~~~~~~~~~~
not_taken_more.py:20:5: error: `T.ptx.add_f32` is not taken: an instruction is named by its opcode, as in `T.ptx["add.rn.f32"](d, a, b)` [UnknownName]
        T.ptx.add_f32(A.ptr_to([0]), A[1], A[2])
        ^~~~~~~~~~~~~
not_taken_more.py:21:58: error: `cache_hint=` of `T.ptx.ld` is not taken [BadArgument]
        T.ptx.ld(A.ptr_to([0]), "float32", "f32", cache_hint="evict_last")
                                                             ^~~~~~~~~~~~
  note: an opcode has all modifiers: `T.ptx["ld.global.nc.b32"](d, address)`
not_taken_more.py:22:13: error: `Tx.warp.binary_chain` is not taken: fused primitives are of another machine; write them one after the other [UnknownName]
        Tx.warp.binary_chain(A, A)
                ^~~~~~~~~~~~
not_taken_more.py:23:14: error: `is_tile_inner` of a layout is not taken: it asks about layouts, not in kernels; `warpwright layout` answers more [UnknownName]
        A[t] = L.is_tile_inner(L, [8], [8])
                 ^~~~~~~~~~~~~
not_taken_more.py:24:24: error: `T.constexpr` of a value that is known when the kernel runs, expected one of the host [NeedsConstant]
        A[t] = T.constexpr(t)
                           ^
not_taken_more.py:25:12: error: `T.reinterpret` takes a type and a value [BadArgument]
        A[t] = T.reinterpret("float32")
               ^~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.reinterpret("uint32", x)`, or `T.reinterpret(x, ty="uint32")`
not_taken_more.py:26:16: error: a pointer made of `uint64`, expected one from a buffer [BadType]
        p: T.let = T.reinterpret("handle", T.uint64(16))
                   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `B.ptr_to([i])` is the address of an element
#=== other_languages
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    block = T.cta_id([2])
    t = T.thread_id([32])
    x = T.blockIdx
    y = T.alloc_fragment((4,), "float32")
    z = exp(A[0])
    w = math.exp(1.0)
    l = [i for i in range(block)]
    T.syncthreads()
#--- expected
other_languages.py:7:11: error: `T` has no `blockIdx`; did you mean `cta_id`? [UnknownName]
        x = T.blockIdx
              ^~~~~~~~
other_languages.py:8:11: error: `T` has no `alloc_fragment`; did you mean `alloc_local`? [UnknownName]
        y = T.alloc_fragment((4,), "float32")
              ^~~~~~~~~~~~~~
other_languages.py:9:9: error: `exp` has no value here; did you mean `T.exp`? [UnknownName]
        z = exp(A[0])
            ^~~
other_languages.py:10:9: error: `math` has no value here [UnknownName]
        w = math.exp(1.0)
            ^~~~
  note: `import math` brings it
other_languages.py:11:21: error: this runs at compile time, and how often is known at run time only [HostError]
        l = [i for i in range(block)]
                        ^~~~~~~~~~~~
  note: a `for` statement loops at run time
other_languages.py:12:7: error: `T` has no `syncthreads`; did you mean `cuda.cta_sync`? [UnknownName]
        T.syncthreads()
          ^~~~~~~~~~~
#=== pointer_arith
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    p = A.data
    x = p + 1
    y = A.ptr_to([0, 0]) * 2
    A[0, 0] = p
#--- expected
pointer_arith.py:7:9: error: `+` of `handle(float32)` and `int32` [BadType]
        x = p + 1
            ^~~~~
  note: `B.ptr_to([i])` and `T.ptr_byte_offset(p, bytes)` give addresses
pointer_arith.py:8:9: error: `*` of `handle(float32)` and `int32` [BadType]
        y = A.ptr_to([0, 0]) * 2
            ^~~~~~~~~~~~~~~~~~~~
  note: `B.ptr_to([i])` and `T.ptr_byte_offset(p, bytes)` give addresses
pointer_arith.py:9:15: error: cannot convert `handle(float32)` to `float32` [BadType]
        A[0, 0] = p
                  ^
#=== reductions
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
reductions.py:11:30: error: `scratch` of `T.cuda.cta_reduce` leads to `r` in registers, expected a pointer into shared memory [BadArgument]
        v = T.cuda.cta_sum(v, 4, at)
                                 ^~
reductions.py:7:9: note: declared here
        r = T.alloc_local((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes `T.cuda.cta_reduce(value, op, num_warps, scratch)`
reductions.py:13:27: error: `num_warps` of `T.cuda.cta_reduce` is 2, the CTA has 4: 128 threads [BadArgument]
        v = T.cuda.cta_sum(v, 2, s.ptr_to([0]))
                              ^
reductions.py:16:17: error: `T.cuda.warp_reduce` is reached by threads 0-15 of 128, expected whole warps [Divergent]
            v = v + T.cuda.warp_reduce(v)
                    ^~~~~~~~~~~~~~~~~~~~~
reductions.py:15:8: note: `tx < 16` leaves out the others
        if tx < 16:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warps
reductions.py:18:9: error: `T.cuda.cta_reduce` is reached by warp 0 of 4, expected whole ctas [Divergent]
            v = T.cuda.cta_sum(v, 4, s.ptr_to([0]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
reductions.py:17:8: note: `tx < 32` leaves out the others
        if tx < 32:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole ctas
reductions.py:22:9: error: `T.tvm_storage_sync` is reached by threads 0-7 of 128, expected whole warps [Divergent]
            T.tvm_storage_sync("warp")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~
reductions.py:21:8: note: `tx < 8` leaves out the others
        if tx < 8:
           ^~~~~~
  note: put it outside the `if`, or let the condition hold for whole warps
#=== reinterpret
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.reinterpret("uint64", A[0, 0])
    y = T.reinterpret("float16", tx)
#--- expected
reinterpret.py:6:9: error: cannot read the bits of `float32` as `uint64`: the widths differ [BadType]
        x = T.reinterpret("uint64", A[0, 0])
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
reinterpret.py:7:9: error: cannot read the bits of `int32` as `float16`: the widths differ [BadType]
        y = T.reinterpret("float16", tx)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== runtime_as_constant
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    v: T.let = T.Broadcast(A[0, 0], tx)
    y = [1, 2, 3][tx]
    for i in T.unroll(tx):
        A[0, i] = 0.0
#--- expected
runtime_as_constant.py:6:37: error: the number of lanes is a value of run time, expected an integer that is known at compile time [BadType]
        v: T.let = T.Broadcast(A[0, 0], tx)
                                        ^~
runtime_as_constant.py:7:9: error: the index is a value of run time, expected an integer that is known at compile time [BadType]
        y = [1, 2, 3][tx]
            ^~~~~~~~~~~~~
runtime_as_constant.py:8:14: error: `T.unroll` over a number of rounds that is known at run time only [NeedsConstant]
        for i in T.unroll(tx):
                 ^~~~~~~~~~~~
#=== shift_float
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = A[0, 0] << 1
    y = A[0, 0] & 3
    z = ~A[0, 0]
#--- expected
shift_float.py:6:9: error: `<<` of `float32` [BadType]
        x = A[0, 0] << 1
            ^~~~~~~~~~~~
shift_float.py:7:9: error: `&` of `float32` [BadType]
        y = A[0, 0] & 3
            ^~~~~~~~~~~
shift_float.py:8:9: error: `~` of `float32` [BadType]
        z = ~A[0, 0]
            ^~~~~~~~
#=== shuffle_width
from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.cuda.shfl_sync(T.uint32(0xFFFFFFFF), tid, 40, 12)
#--- expected
shuffle_width.py:10:62: error: a width of 12 lanes, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        B[tid] = T.cuda.shfl_sync(T.uint32(0xFFFFFFFF), tid, 40, 12)
                                                                 ^~
#=== text_value
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s = "abc"
    A[0, 0] = "abc"
    x = tx + "abc"
    A[0, 0] = None
#--- expected
text_value.py:7:15: error: cannot convert `text` to `float32` [BadType]
        A[0, 0] = "abc"
                  ^~~~~
text_value.py:8:9: error: `+` of `int32` and `text` [BadType]
        x = tx + "abc"
            ^~~~~~~~~~
text_value.py:9:15: error: None as a value of the kernel, expected a number or an expression [BadType]
        A[0, 0] = None
                  ^~~~
#=== unknown_names
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
unknown_names.py:6:17: error: `T` has no `sqroot`; did you mean `sqrt`? [UnknownName]
        A[0, 0] = T.sqroot(A[0, 1])
                    ^~~~~~
unknown_names.py:7:7: error: `T` has no `alloc_share`; did you mean `alloc_shared`? [UnknownName]
        T.alloc_share((4,), "float32")
          ^~~~~~~~~~~
unknown_names.py:8:13: error: `Tx.warp` has no `coppy`; did you mean `copy`? [UnknownName]
        Tx.warp.coppy(A, A)
                ^~~~~
unknown_names.py:9:5: error: `ldmatrx.sync.aligned.m8n8.x1.shared.b16` is not a PTX instruction; did you mean `ldmatrix`? [UnknownName]
        T.ptx.ldmatrx.sync.aligned.m8n8.x1.shared.b16(A[0, 0], A.data)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
unknown_names.py:10:12: error: `T.cuda` has no `cta_synch`; did you mean `cta_sync`? [UnknownName]
        T.cuda.cta_synch()
               ^~~~~~~~~
unknown_names.py:11:9: error: `tx_` has no value here; did you mean `tx`? [UnknownName]
        x = tx_ + 1
            ^~~
unknown_names.py:12:17: error: buffer has no `shap` [UnknownName]
        A[0, 0] = A.shap[0]
                    ^~~~
unknown_names.py:13:7: error: buffer has no `veiw`; did you mean `view`? [UnknownName]
        A.veiw(256)
          ^~~~
#=== void_value
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.cuda.cta_sync()
    A[0, 0] = T.cuda.warp_sync()
    y = T.cuda.printf("x") + 1
#--- expected
void_value.py:6:9: error: this call returns nothing, expected a value [BadType]
        x = T.cuda.cta_sync()
            ^~~~~~~~~~~~~~~~~
void_value.py:7:15: error: this call returns nothing, expected a value [BadType]
        A[0, 0] = T.cuda.warp_sync()
                  ^~~~~~~~~~~~~~~~~~
void_value.py:8:9: error: `+` of `void` and `int32` [BadType]
        y = T.cuda.printf("x") + 1
            ^~~~~~~~~~~~~~~~~~~~~~
#=== shuffle_types
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    u: T.let = T.Shuffle([A[0, 0], T.int32(1)], [0, 1])
    v: T.let = T.Shuffle([], [0])
    w: T.let = T.Shuffle([A[0, 0], A[0, 1]], [0, 2])
    x: T.let = T.Shuffle([A[0, 0], A[0, 1]], [0, -1])
    y: T.let = T.Shuffle([A[0, 0], A[0, 1]], [])
#--- expected
shuffle_types.py:6:26: error: a shuffle of `int32` [BadType]
        u: T.let = T.Shuffle([A[0, 0], T.int32(1)], [0, 1])
                             ^~~~~~~~~~~~~~~~~~~~~
shuffle_types.py:7:16: error: a shuffle of nothing [BadArgument]
        v: T.let = T.Shuffle([], [0])
                   ^~~~~~~~~~~~~~~~~~
shuffle_types.py:8:46: error: lane 2 of 2 [OutOfBounds]
        w: T.let = T.Shuffle([A[0, 0], A[0, 1]], [0, 2])
                                                 ^~~~~~
shuffle_types.py:9:46: error: lane -1 of 2 [OutOfBounds]
        x: T.let = T.Shuffle([A[0, 0], A[0, 1]], [0, -1])
                                                 ^~~~~~~
shuffle_types.py:10:16: error: a shuffle to nothing [BadArgument]
        y: T.let = T.Shuffle([A[0, 0], A[0, 1]], [])
                   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
