# A product by one warp; defaults are not printed.
from tvm.tirx.layout import S, TileLayout, laneid

FRAG = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])
FRAG_B = TileLayout(S[(4, 2, 8) : (1 @ laneid, 1, 4 @ laneid)])

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.warp_id([1])
    T.lane_id([32])
    D = T.alloc_buffer((16, 8), "float32", scope="local", layout=FRAG)
    X = T.alloc_buffer((16, 8), "float16", scope="local", layout=FRAG)
    Y = T.alloc_buffer((8, 8), "float16", scope="local", layout=FRAG_B)
    Tx.warp.gemm(D, X, Y, D, beta=1.0)
    Tx.warp.gemm(D, X, Y, D, False, False, 1.0, 0.0)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    T.warp_id([1])
    T.lane_id([32])
    D = T.alloc_buffer((16, 8), scope="local", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    X = T.alloc_buffer((16, 8), "float16", scope="local", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    Y = T.alloc_buffer((8, 8), "float16", scope="local", layout=TileLayout(S[(4, 2, 8) : (1 @ laneid, 1, 4 @ laneid)]))
    Tx.warp.gemm(D[0:16, 0:8], X[0:16, 0:8], Y[0:8, 0:8], D[0:16, 0:8], beta=1.0)
    Tx.warp.gemm(D[0:16, 0:8], X[0:16, 0:8], Y[0:8, 0:8], D[0:16, 0:8])
