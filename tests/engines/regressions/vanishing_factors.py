# Factors that float32 does not tell from 0 and 1: the proof took them for other numbers than the code.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, D_ptr: T.handle, E_ptr: T.handle):
    A = T.match_buffer(A_ptr, (16, 16), "float16")
    B = T.match_buffer(B_ptr, (16, 8), "float16")
    C = T.match_buffer(C_ptr, (16, 8), "float32")
    D = T.match_buffer(D_ptr, (16, 8), "float32")
    E = T.match_buffer(E_ptr, (16, 8), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    a = T.alloc_buffer((16, 16), "float16", scope="local", layout=TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    b = T.alloc_buffer((16, 8), "float16", scope="local", layout=TileLayout(S[(2, 4, 2, 8) : (2, 1 @ laneid, 1, 4 @ laneid)]))
    c = T.alloc_buffer((16, 8), "float32", scope="local", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    d = T.alloc_buffer((16, 8), "float32", scope="local", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    Tx.warp.copy(a[:, :], A[:, :])
    Tx.warp.copy(b[:, :], B[:, :])
    Tx.warp.copy(c[:, :], C[:, :])
    Tx.warp.gemm(d[:, :], a[:, :], b[:, :], c[:, :], transpose_A=False, transpose_B=False, alpha=1e-50, beta=1.000000001)
    Tx.warp.copy(D[:, :], d[:, :])
    Tx.warp.gemm(d[:, :], a[:, :], b[:, :], c[:, :], transpose_A=False, transpose_B=False, alpha=16777217.5, beta=1e-50)
    Tx.warp.copy(E[:, :], d[:, :])
