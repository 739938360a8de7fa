# Thread axes stay as they are when the type of a view changes.
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    H = T.alloc_local((8,), "float16")
    V = H.view(32, 8, layout=TileLayout(S[(32, 4, 2) : (1 @ laneid, 2, 1)]))
    W = V.view("uint32")
    Tx.warp.zero(W)
    A[0, 0] = H[0]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    H = T.alloc_local((8,), "float16")
    V = T.decl_buffer((32, 8), "float16", data=H.data, scope="local", layout=TileLayout(S[(32, 4, 2) : (1 @ laneid, 2, 1)]))
    W = T.decl_buffer((32, 4), "uint32", data=H.data, scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    Tx.warp.zero(W[0:32, 0:4])
    A[0, 0] = T.Cast("float32", H[0])
