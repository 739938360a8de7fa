#: dialect = d2
# A layout given to local says which register each index is.
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.warp_id([1])
    lane = T.lane_id([32])
    F = T.alloc_buffer((32, 8), "float32", scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    r = F.local(4, 2, layout=TileLayout(S[(4, 2) : (1, 4)]))
    r[1, 1] = 2.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    T.warp_id([1])
    lane = T.lane_id([32])
    F = T.alloc_buffer((32, 8), scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    r = T.decl_buffer((4, 2), data=F.data, scope="local", layout=TileLayout(S[(4, 2) : (1, 4)]))
    r[1, 1] = T.float32(2.0)
