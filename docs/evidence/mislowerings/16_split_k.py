from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, warpid


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
    A = T.match_buffer(A_ptr, (16, 32), "float16")
    B = T.match_buffer(B_ptr, (32, 8), "float16")
    D = T.match_buffer(D_ptr, (16, 8), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([2])
    T.lane_id([32])
    A_f = T.alloc_buffer((16, 32), "float16", scope="local", layout=TileLayout(
        S[(2, 8, 2, 2, 4, 2) : (2, 4 @ laneid, 1 @ warpid, 4, 1 @ laneid, 1)]))
    B_f = T.alloc_buffer((32, 8), "float16", scope="local", layout=TileLayout(
        S[(2, 2, 4, 2, 8) : (1 @ warpid, 2, 1 @ laneid, 1, 4 @ laneid)]))
    D_f = T.alloc_buffer((16, 8), "float32", scope="local", layout=TileLayout(
        S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    Tx.cta.copy(A_f[:, :], A[:, :])
    Tx.cta.copy(B_f[:, :], B[:, :])
    Tx.cta.gemm(D_f[:, :], A_f[:, :], B_f[:, :], D_f[:, :], beta=0.0)
    Tx.cta.copy(D[:, :], D_f[:, :])
