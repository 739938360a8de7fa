from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (8, 16), "float16")
    B = T.match_buffer(B_ptr, (8, 16), "float16")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    M = T.alloc_buffer((8, 16), "float16", scope="shared")
    R = T.alloc_buffer((8, 16), "float16", scope="local",
                       layout=TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)]))
    Tx.warp.copy(M[:, :], A[:, :])
    T.cuda.cta_sync()
    Tx.warp.copy(R[:, :], M[:, :])
    T.cuda.cta_sync()
    Tx.warp.copy(M[:, :], R[:, :])
    T.cuda.cta_sync()
    Tx.warp.copy(B[:, :], M[:, :])
