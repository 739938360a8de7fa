# Registers for tensor memory, seen as the tile that they hold.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    F = T.alloc_tcgen05_ldst_frag("16x64b", (128, 8), "float32")
    G = T.alloc_tcgen05_ldst_frag("32x32b", (128, 8), "float16")
    Tx.wg.cast(G, F)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, wid_in_wg, laneid, tid_in_wg

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    v = T.alloc_local((8,))
    F = T.decl_buffer((128, 8), data=v.data, scope="local", layout=TileLayout(S[(4, 2, 2, 8, 4, 2) : (1 @ wid_in_wg, 4, 1 @ laneid, 4 @ laneid, 1, 2 @ laneid)]))
    v_1 = T.alloc_local((8,), "float16")
    G = T.decl_buffer((128, 8), "float16", data=v_1.data, scope="local", layout=TileLayout(S[(128, 8) : (1 @ tid_in_wg, 1)]))
    Tx.wg.cast(G[0:128, 0:8], src=F[0:128, 0:8])
