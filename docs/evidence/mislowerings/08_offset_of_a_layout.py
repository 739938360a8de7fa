from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, 4), "float32")
    B = T.match_buffer(B_ptr, (32, 4), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    M = T.alloc_buffer((32, 4), "float32", scope="shared", layout=TileLayout(S[(32, 4) : (4, 1)] + 2))
    R = T.alloc_buffer((32, 4), "float32", scope="local",
                       layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    Tx.warp.copy(M[:, :], A[:, :])
    T.cuda.cta_sync()
    Tx.warp.copy(R[:, :], M[:, :])
    Tx.warp.copy(B[:, :], R[:, :])
