# A shape may be an int, a list or a tuple.
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_buffer((4, 8), "float16", scope="shared")
    D0 = T.alloc_buffer([64], "uint8", scope="shared.dyn", align=128)
    L0 = T.alloc_buffer(8, scope="local")
    S1 = T.alloc_shared((2, 2), T.int32)
    L1 = T.alloc_local((4), "float32", layout=TileLayout(S[(2, 2) : (1, 2)]))
    L0[0] = 1.0
    S0[0, 0] = 2
    S1[1, 1] = 3
    D0[tx] = 4
    A[0, 0] = L0[0] + L1[3]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_buffer((4, 8), "float16", scope="shared")
    D0 = T.alloc_buffer((64,), "uint8", scope="shared.dyn", align=128)
    L0 = T.alloc_local((8,))
    S1 = T.alloc_buffer((2, 2), "int32", scope="shared")
    L1 = T.alloc_buffer((4,), scope="local", layout=TileLayout(S[(2, 2) : (1, 2)]))
    L0[0] = T.float32(1.0)
    S0[0, 0] = T.float16(2.0)
    S1[1, 1] = 3
    D0[tx] = T.uint8(4)
    A[0, 0] = L0[0] + L1[3]
