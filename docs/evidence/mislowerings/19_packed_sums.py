from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A_ptr: T.handle, C_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, 4), "float32")
    C = T.match_buffer(C_ptr, (32, 4), "float32")
    B = T.match_buffer(B_ptr, (32, 4), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    x = T.alloc_buffer((32, 4), "float32", scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    y = T.alloc_buffer((32, 4), "float32", scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    Tx.warp.copy(x[:, :], A[:, :])
    Tx.warp.copy(y[:, :], C[:, :])
    Tx.warp.add(x[:, :], x[:, :], y[:, :])
    Tx.warp.copy(B[:, :], x[:, :])
