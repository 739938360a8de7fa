# Fragments made from others.
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    f = T.alloc_local((4,), "float32")
    F = f.view(128, 4, layout=TileLayout(S[(128, 4) : (1 @ tid_in_wg, 1)]))
    C = T.alloc_cast_frag(F, "float16")
    W = T.wg_reg_tile(4)
    Tx.wg.cast(C, F)
    Tx.wg.copy(W, F)
    A[0, tx % 16] = f[0]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, tid_in_wg

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    f = T.alloc_local((4,))
    F = T.decl_buffer((128, 4), data=f.data, scope="local", layout=TileLayout(S[(128, 4) : (1 @ tid_in_wg, 1)]))
    C = T.alloc_buffer((128, 4), "float16", scope="local", layout=TileLayout(S[(128, 4) : (1 @ tid_in_wg, 1)]))
    W = T.alloc_buffer((128, 4), scope="local", layout=TileLayout(S[(128, 4) : (1 @ tid_in_wg, 1)]))
    Tx.wg.cast(C[0:128, 0:4], src=F[0:128, 0:4])
    Tx.wg.copy(W[0:128, 0:4], F[0:128, 0:4])
    A[0, tx % 16] = f[0]
