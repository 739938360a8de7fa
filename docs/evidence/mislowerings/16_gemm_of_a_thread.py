from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
    A = T.match_buffer(A_ptr, (16, 16), "float16")
    B = T.match_buffer(B_ptr, (16, 8), "float16")
    D = T.match_buffer(D_ptr, (16, 8), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    A_f = T.alloc_buffer((16, 16), "float16", scope="local", layout=TileLayout(
        S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    B_f = T.alloc_buffer((16, 8), "float16", scope="local", layout=TileLayout(
        S[(2, 4, 2, 8) : (2, 1 @ laneid, 1, 4 @ laneid)]))
    D_f = T.alloc_buffer((16, 8), "float32", scope="local", layout=TileLayout(
        S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    Tx.warp.copy(A_f[:, :], A[:, :])
    Tx.warp.copy(B_f[:, :], B[:, :])
    Tx.warp.fill(D_f[:, :], T.float32(7))
    if lane == 3:
        Tx.gemm(D_f[:, :], A_f[:, :], B_f[:, :], D_f[:, :], beta=0.0)
    Tx.warp.copy(D[:, :], D_f[:, :])
