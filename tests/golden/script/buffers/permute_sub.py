# A number in sub drops its dimension, a range keeps it.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    M = T.alloc_shared((4, 8, 16), "float32")
    P = M.permute(2, 0, 1)
    Q = M.sub[1, 2:6, :]
    U = M.sub[tx % 4, 0:4, 8:16]
    V = Q.sub[:, tx % 16]
    P[15, 3, 7] = 1.0
    Q[3, 15] = 2.0
    U[3, 7] = 3.0
    V[0] = 4.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    M = T.alloc_buffer((4, 8, 16), scope="shared")
    P = T.decl_buffer((16, 4, 8), data=M.data, scope="shared", layout=TileLayout(S[(16, 4, 8) : (1, 128, 16)]))
    Q = T.decl_buffer((4, 16), data=M.data, scope="shared", layout=TileLayout(S[(1, 4, 16) : (128, 16, 1)] + 160))
    U = T.decl_buffer((4, 8), data=M.data, elem_offset=tx % 4 * 128, scope="shared", layout=TileLayout(S[(1, 4, 8) : (128, 16, 1)] + 8))
    V = T.decl_buffer((4,), data=M.data, elem_offset=tx % 16, scope="shared", layout=TileLayout(S[(4, 1) : (16, 1)] + 160))
    P[15, 3, 7] = T.float32(1.0)
    Q[3, 15] = T.float32(2.0)
    U[3, 7] = T.float32(3.0)
    V[0] = T.float32(4.0)
