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
bad_not_taken.py:10:14: error: `T.load` is not taken: `A[i]` reads an element, `B.vload([i], dtype=)` a vector [UnknownName]
        A[t] = T.load(A, t)
                 ^~~~
bad_not_taken.py:11:19: error: `T.cuda.clock64` is not taken: there is no clock: what a program computes does not depend on time [UnknownName]
        A[t] = T.cuda.clock64()
                      ^~~~~~~
bad_not_taken.py:12:14: error: `T.nvshmem` is not taken: there is one GPU [UnknownName]
        A[t] = T.nvshmem.my_pe()
                 ^~~~~~~
bad_not_taken.py:13:14: error: `T.atan2` is not taken: no instruction computes it [UnknownName]
        A[t] = T.atan2(A[t], A[t])
                 ^~~~~
bad_not_taken.py:14:39: error: a mask of 0xff, expected 0xffffffff: the whole warp [BadArgument]
        U[t] = T.cuda.reduce_min_sync_u32(T.uint32(0xFF), U[t])
                                          ^~~~~~~~~~~~~~
  note: `T.ptx["redux.sync.min.u32"](d, a, mask)` takes any mask
bad_not_taken.py:15:12: error: `T.cuda.cta_reduce` without `op` [BadArgument]
        A[t] = T.cuda.cta_reduce(A[t])
               ^~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (value, op, num_warps, scratch)
