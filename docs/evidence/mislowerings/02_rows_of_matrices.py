from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (16, 16), "float16")
    B = T.match_buffer(B_ptr, (16, 16), "float16")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    M = T.alloc_buffer((16, 24), "float16", scope="shared")
    R = T.alloc_buffer((16, 16), "float16", scope="local",
                       layout=TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    Tx.warp.copy(M[:, 4:20], A[:, :])
    T.cuda.cta_sync()
    Tx.warp.copy(R[:, :], M[:, 4:20])
    Tx.warp.copy(B[:, :], R[:, :])
