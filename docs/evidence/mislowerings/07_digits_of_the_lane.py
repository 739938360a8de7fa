from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, laneid


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (8, 1, 4), "float32")
    B = T.match_buffer(B_ptr, (8, 4, 4), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    held = T.alloc_buffer((8, 4), "float32", scope="local",
                          layout=TileLayout(S[(8, 4) : (4 @ laneid, 1)] + R[4 : 1 @ laneid]))
    Tx.warp.copy(held[:, :], A[:, 0, :])
    own = held.local(4)
    for i in T.serial(4):
        B[lane // 4, lane % 4, i] = own[i]
