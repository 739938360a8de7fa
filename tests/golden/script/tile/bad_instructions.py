# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.function
def kernel(A: T.Tensor((64,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=2, block=32))
    v = T.alloc_local((4,), "float32")
    T.cuda.tile.ld(v, A[0:4], scope="wg")
    T.cuda.tile.ld(v, A[0:4], vec_bits=100)
    T.cuda.tile.ld(v, A[0:4], dispatch="reg")
    T.cuda.tile.add(v, v, v, rounding_mode="rz")
    T.cuda.tile.cp_async_bulk_tensor_load(v, A, A.data)
    T.cuda.tile.copy(v, A)
    T.trn.tile.load(v, A)
#--- expected
bad_instructions.py:9:37: error: scope "wg", expected "thread", "warp", "warpgroup", "cta" or "cluster" [BadArgument]
        T.cuda.tile.ld(v, A[0:4], scope="wg")
                                        ^~~~
bad_instructions.py:10:40: error: `vec_bits` is 100, expected 8, 16, 32, 64, 128 or 256 [BadArgument]
        T.cuda.tile.ld(v, A[0:4], vec_bits=100)
                                           ^~~
bad_instructions.py:11:31: error: `T.cuda.tile.ld` has no parameter `dispatch` [BadArgument]
        T.cuda.tile.ld(v, A[0:4], dispatch="reg")
                                  ^~~~~~~~
  note: it takes (dst, src, scope?, vec_bits?, cache?, l1_evict?, l2_evict?, prefetch_size?)
bad_instructions.py:13:17: error: `T.cuda.tile.cp_async_bulk_tensor_load` is not taken: `Tx.copy_async` with `mbar=` or `dispatch="tma"` makes map and instruction; by hand: the opcode, with a map of `T.tensor_map` [UnknownName]
        T.cuda.tile.cp_async_bulk_tensor_load(v, A, A.data)
                    ^~~~~~~~~~~~~~~~~~~~~~~~~
bad_instructions.py:14:17: error: `T.cuda.tile` has no `copy` [UnknownName]
        T.cuda.tile.copy(v, A)
                    ^~~~
bad_instructions.py:15:7: error: `T.trn` is not taken: another machine: only CUDA is a target [UnknownName]
        T.trn.tile.load(v, A)
          ^~~
