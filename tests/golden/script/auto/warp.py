from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


# Lanes of a warp, and the registers of a thread by number.
@T.prim_func
def kernel(X: T.Buffer((4, 256), "float16"), Y: T.Buffer((4, 256), "float16")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([4])
    T.lane_id([32])
    x = T.alloc_local((256,), "float16", layout="auto")
    mine = x.local(8)
    Tx.warp.copy(x, X[w, :])
    for i in T.unroll(8):
        mine[i] = mine[i] + T.float16(1)
    Tx.warp.copy(Y[w, :], x)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def kernel(X: T.Buffer((4, 256), "float16"), Y: T.Buffer((4, 256), "float16")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([4])
    T.lane_id([32])
    x = T.alloc_buffer((256,), "float16", scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    mine = T.decl_buffer((8,), "float16", data=x.data, scope="local")
    Tx.warp.copy(x[0:256], X[w:w + 1, 0:256])
    for i in T.unroll(8):
        mine[i] = mine[i] + T.float16(1.0)
    Tx.warp.copy(Y[w:w + 1, 0:256], x[0:256])
