# Shards, replicas and offsets.
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    l0 = T.alloc_local((8,), "float32", layout=TileLayout(S[(2, 4) : (1, 2)]))
    l1 = T.alloc_local((2, 4), "float32", layout=TileLayout(S[2, 4]))
    l2 = T.alloc_local((2, 4), "float32", layout=T.TileLayout(T.S[(2, 4)]))
    l3 = T.alloc_local((32, 2), "float32", layout=TileLayout(S[(32, 2) : (1 @ laneid, 1)]))
    l4 = T.alloc_local((8, 2), "float32", layout=TileLayout(S[(8, 2) : (1 @ laneid, 1)] + R[4 : 8 @ laneid]))
    l5 = T.alloc_local((4,), "float32", layout=TileLayout(S[4 : 1] + 4))
    l6 = T.alloc_local((4,), "float32", layout=TileLayout(S[4 : laneid] + 2 @ laneid))
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    l0 = T.alloc_buffer((8,), scope="local", layout=TileLayout(S[(2, 4) : (1, 2)]))
    l1 = T.alloc_buffer((2, 4), scope="local", layout=TileLayout(S[(2, 4) : (4, 1)]))
    l2 = T.alloc_buffer((2, 4), scope="local", layout=TileLayout(S[(2, 4) : (4, 1)]))
    l3 = T.alloc_buffer((32, 2), scope="local", layout=TileLayout(S[(32, 2) : (1 @ laneid, 1)]))
    l4 = T.alloc_buffer((8, 2), scope="local", layout=TileLayout(S[(8, 2) : (1 @ laneid, 1)] + R[4 : 8 @ laneid]))
    l5 = T.alloc_buffer((4,), scope="local", layout=TileLayout(S[4 : 1] + 4))
    l6 = T.alloc_buffer((4,), scope="local", layout=TileLayout(S[4 : 1 @ laneid] + 2 @ laneid))
