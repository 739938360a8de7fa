# One extent of a view may be -1.
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    R = T.alloc_local((4, 8), "float32")
    V = R.view(8, -1)
    W = R.view((2, 2, 8))
    F = R.view(-1)
    P = R.view(32, layout=TileLayout(S[(4, 8) : (1, 4)]))
    V[7, 3] = 1.0
    W[1, 1, 7] = 2.0
    F[31] = P[tx]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    R_1 = T.alloc_buffer((4, 8), scope="local")
    V = T.decl_buffer((8, 4), data=R_1.data, scope="local")
    W = T.decl_buffer((2, 2, 8), data=R_1.data, scope="local")
    F = T.decl_buffer((32,), data=R_1.data, scope="local")
    P = T.decl_buffer((32,), data=R_1.data, scope="local", layout=TileLayout(S[(4, 8) : (1, 4)]))
    V[7, 3] = T.float32(1.0)
    W[1, 1, 7] = T.float32(2.0)
    F[31] = P[tx]
