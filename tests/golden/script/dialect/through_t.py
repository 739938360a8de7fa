#: note = the tile namespace is reached through the language's
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout, laneid

FRAG = TileLayout(S[(2, 8, 4, 2) : (1, 4 @ laneid, 1 @ laneid, 2)])


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32, 4), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    R = T.alloc_buffer((2, 8, 4, 2), "float32", scope="local", layout=FRAG)
    r = R.local(4)
    for i in range(4):
        r[i] = B[lane, i]
    T.warp.copy(R, R)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32, 4))
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    R_1 = T.alloc_buffer((2, 8, 4, 2), scope="local", layout=TileLayout(S[(2, 8, 4, 2) : (1, 4 @ laneid, 1 @ laneid, 2)]))
    r = T.decl_buffer((4,), data=R_1.data, scope="local")
    for i in range(4):
        r[i] = B[lane, i]
    Tx.warp.copy(R_1[0:2, 0:8, 0:4, 0:2], R_1[0:2, 0:8, 0:4, 0:2])
