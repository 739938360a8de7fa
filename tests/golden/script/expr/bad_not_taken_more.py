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
bad_not_taken_more.py:16:10: error: this value is not known at compile time: `RankAwareGroupMajorTileScheduler` of module `tvm.tirx.lang.tile_scheduler` is not taken: it asks NVSHMEM for the rank; `T.ClusterPersistentScheduler2D` schedules the tiles of one GPU [Opaque]
        with RankAwareGroupMajorTileScheduler(t, 1):
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_not_taken_more.py:19:5: error: this value is not known at compile time: `SmemDescriptor` of module `tvm.backend.cuda.lang` is not taken: descriptors are made by `gemm_async` [Opaque]
        bar.make(0)
        ^~~~~~~~~~~
bad_not_taken_more.py:20:5: error: `T.ptx.add_f32` is not taken: an instruction is named by its opcode, as in `T.ptx["add.rn.f32"](d, a, b)` [UnknownName]
        T.ptx.add_f32(A.ptr_to([0]), A[1], A[2])
        ^~~~~~~~~~~~~
bad_not_taken_more.py:21:58: error: `cache_hint=` of `T.ptx.ld` is not taken [BadArgument]
        T.ptx.ld(A.ptr_to([0]), "float32", "f32", cache_hint="evict_last")
                                                             ^~~~~~~~~~~~
  note: an opcode has all modifiers: `T.ptx["ld.global.nc.b32"](d, address)`
bad_not_taken_more.py:22:13: error: `Tx.warp.binary_chain` is not taken: fused primitives are of another machine; write them one after the other [UnknownName]
        Tx.warp.binary_chain(A, A)
                ^~~~~~~~~~~~
bad_not_taken_more.py:23:14: error: `is_tile_inner` of a layout is not taken: it asks about layouts, not in kernels; `warpwright layout` answers more [UnknownName]
        A[t] = L.is_tile_inner(L, [8], [8])
                 ^~~~~~~~~~~~~
bad_not_taken_more.py:24:24: error: `T.constexpr` of a value that is known when the kernel runs, expected one of the host [NeedsConstant]
        A[t] = T.constexpr(t)
                           ^
bad_not_taken_more.py:25:12: error: `T.reinterpret` takes a type and a value [BadArgument]
        A[t] = T.reinterpret("float32")
               ^~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.reinterpret("uint32", x)`, or `T.reinterpret(x, ty="uint32")`
bad_not_taken_more.py:26:16: error: a pointer made of `uint64`, expected one from a buffer [BadType]
        p: T.let = T.reinterpret("handle", T.uint64(16))
                   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `B.ptr_to([i])` is the address of an element
