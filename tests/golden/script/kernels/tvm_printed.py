# SPDX-License-Identifier: Apache-2.0
# As TVM 0.27 prints a kernel: imports are comments, the entry is an attribute, and the words of an
# opcode follow its operands.
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func
def k(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 64), "float16")):
    T.attr({"tirx.device_entry": T.bool(True)})
    bx = T.cta_id([2])
    wg = T.warpgroup_id([1])
    w = T.warp_id_in_wg([4])
    lane = T.lane_id([32])
    sm = T.alloc_shared((64, 64), "float16", layout=T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[(64, 64):(64, 1)])))
    fr = T.alloc_local((8, 8), "float16", layout=T.TileLayout(T.S[(8, 4, 2):(4 @ Axis.laneid, 1 @ Axis.laneid, 1)] + T.R[2:1 @ Axis.warpid] + 3))
    bar = T.alloc_shared((1,), "uint64")
    T.wg.copy(sm[0:64, 0:64], A[0:64, 0:64])
    T.cuda.cta_sync()
    if lane == 0:
        T.ptx.mbarrier(T.cuda.cvta_generic_to_shared(T.address_of(bar)), "arrive", "", "", "shared", "b64", "")
        T.ptx.mbarrier.arrive.relaxed.cta.shared__cta.b64(bar.ptr_to([0]))
    y: T.let[T.int32] = lane + 1
    B[0, lane] = T.float16(2.5) + T.Cast("float16", y)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid, warpid

@T.prim_func
def k(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 64), "float16")):
    T.device_entry()
    bx = T.cta_id([2])
    wg = T.warpgroup_id([1])
    w = T.warp_id_in_wg([4])
    lane = T.lane_id([32])
    sm = T.alloc_buffer((64, 64), "float16", scope="shared", layout=ComposeLayout(3, 3, 3, TileLayout(S[(64, 64) : (64, 1)])))
    fr = T.alloc_buffer((8, 8), "float16", scope="local", layout=TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)] + R[2 : 1 @ warpid] + 3))
    bar = T.alloc_shared((1,), "uint64")
    Tx.wg.copy(sm[0:64, 0:64], A[0:64, 0:64])
    T.cuda.cta_sync()
    if lane == 0:
        T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.cuda.cvta_generic_to_shared(T.address_of(bar[0])))
        T.ptx["mbarrier.arrive.relaxed.cta.shared::cta.b64"](T.ptx.SINK, T.address_of(bar[0]))
    y: T.let[T.int32] = lane + 1
    B[0, lane] = T.float16(2.5) + T.Cast("float16", y)
