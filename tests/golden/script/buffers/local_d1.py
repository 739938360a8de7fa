#: dialect = d1
# Registers by the iters of the layout: index 4*rM + 2*kHi + kp.
from tvm.tirx.layout import S, TileLayout, laneid

FRAG_K8 = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])
FRAG = FRAG_K8.tile_to([16, 16], [16, 8])

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.warp_id([1])
    lane = T.lane_id([32])
    F = T.alloc_buffer((16, 16), "float16", scope="local", layout=FRAG)
    r = F.local(8)
    q = F.local()
    p = F.local(2, 4)
    r[1] = q[2]
    p[1, 3] = r[7]
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
    F = T.alloc_buffer((16, 16), "float16", scope="local", layout=TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    r = T.decl_buffer((8,), "float16", data=F.data, scope="local", layout=TileLayout(S[(2, 2, 2) : (2, 4, 1)]))
    q = T.decl_buffer((8,), "float16", data=F.data, scope="local", layout=TileLayout(S[(2, 2, 2) : (2, 4, 1)]))
    p = T.decl_buffer((2, 4), "float16", data=F.data, scope="local", layout=TileLayout(S[(2, 2, 2) : (2, 4, 1)]))
    r[1] = q[2]
    p[1, 3] = r[7]
