# SPDX-License-Identifier: Apache-2.0
"""Layouts by the helpers of TVM's modules."""
from tvm.backend.cuda.tile_primitive.gemm_async import sf_smem_layout, sf_tmem_layout
from tvm.backend.cuda.tile_primitive.tma_utils import SwizzleMode, get_swizzle_mode_from_layout
from tvm.backend.cuda.tile_primitive.tma_utils import mma_atom_shape, mma_shared_layout
from tvm.script import tirx as T
from tvm.tirx.layout import Axis, ComposeLayout, Iter, R, S, SwizzleLayout, TCol, TileLayout, TLane
from tvm.tirx.layout import laneid, tmem_mma_operand_layout, warpid

swizzled = mma_shared_layout("float16", SwizzleMode.SWIZZLE_128B_ATOM, (2, 64, 128))
assert swizzled.per_element == 3 and swizzled.swizzle_len == 3 and swizzled.atom_len == 3
assert swizzled == mma_shared_layout("float16", 3, (2, 64, 128))
assert get_swizzle_mode_from_layout(swizzled) == SwizzleMode.SWIZZLE_128B_ATOM
assert isinstance(swizzled, ComposeLayout) and not isinstance(swizzled, TileLayout)
assert SwizzleMode(2).value == 2 and SwizzleLayout(3, 2, 3).per_element == 3
assert mma_atom_shape("float16", 3) == [8, 64] and mma_atom_shape("int8", 1, (4, 8, 64)) == [1, 8, 32]
assert mma_shared_layout("float16", 0, (16, 64)) == TileLayout(S[(16, 8, 8) : (8, 128, 1)])
assert tmem_mma_operand_layout("D", (64, 32), "float32", M=128, cta_group=2) == TileLayout(
    S[(64, 2, 16) : (1 @ TLane, 64 @ TLane, 1 @ TCol)]
)
assert sf_tmem_layout(128, 4, 4).size() == 512 and sf_smem_layout(128, 4, 4).size() == 512

fragment = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)] + R[2 : 1 @ warpid] + 3)
assert [(i.extent, i.stride, i.axis.name) for i in fragment.shard] == [
    (8, 4, "laneid"), (4, 1, "laneid"), (2, 1, "m")]
assert fragment.replica[0].axis.is_thread() and fragment.shard[2].axis.is_memory()
assert fragment.shard[0] == Iter(8, 4, "laneid") and fragment.offset == {Axis.m: 3}
assert TileLayout.from_iters(fragment.shard, fragment.replica, fragment.offset) == fragment


@T.prim_func
def kernel(A: T.Buffer((2, 64, 128), "float16")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    tile = T.alloc_buffer((2, 64, 128), "float16", scope="shared", layout=swizzled)
    tile[0, 0, t] = A[0, 0, t]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def kernel(A: T.Buffer((2, 64, 128), "float16")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    tile = T.alloc_buffer((2, 64, 128), "float16", scope="shared", layout=ComposeLayout(3, 3, 3, TileLayout(S[(2, 64, 2, 64) : (8192, 64, 4096, 1)])))
    tile[0, 0, t] = A[0, 0, t]
