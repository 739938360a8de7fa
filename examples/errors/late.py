# A barrier that expects all lanes of a warp, while one of them arrives: docs/guide/barriers.md.
#
#   warpwright run examples/errors/late.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def late(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "float32")
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    warp = T.warp_id([2])
    lane = T.lane_id([32])
    tile = T.alloc_shared((32,), "float32")
    full = T.alloc_shared((1,), "uint64")
    if T.cuda.thread_rank() == 0:
        T.ptx.mbarrier.init(full.ptr_to([0]), 32)
    T.cuda.cta_sync()
    if warp == 0:
        Tx.warp.copy(tile[:], A[:])
        if lane == 0:
            T.ptx.mbarrier.arrive(full.ptr_to([0]))
    if warp == 1:
        T.cuda.mbarrier_wait(full.ptr_to([0]), 0)
        Tx.warp.copy(B[:], tile[:])
