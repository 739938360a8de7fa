# A start that is not below zero where the copy is, but is written as a difference: ldmatrix was declined.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, ComposeLayout, SwizzleLayout


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, 64), "float16")
    B = T.match_buffer(B_ptr, (32, 64), "float16")
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([3])
    T.lane_id([32])
    s = T.alloc_buffer((32, 64), "float16", scope="shared", layout=ComposeLayout(SwizzleLayout(3, 3, 3), TileLayout(S[(32, 64) : (64, 1)])))
    a = T.alloc_buffer((16, 64), "float16", scope="local", layout=TileLayout(S[(2, 8, 4, 2, 4, 2) : (2, 4 @ laneid, 8, 4, 1 @ laneid, 1)]))
    Tx.cta.copy(s[:, :], A[:, :])
    T.cuda.cta_sync()
    if w > 0:
        Tx.warp.copy(a[:, :], s[(w - 1) * 16 : (w - 1) * 16 + 16, :])
        Tx.warp.copy(B[(w - 1) * 16 : (w - 1) * 16 + 16, :], a[:, :])
