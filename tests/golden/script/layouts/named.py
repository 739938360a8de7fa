# Layouts by name.
from tvm.tirx.layout import wg_local_layout, tcgen05_atom_layout, tmem_datapath_layout, mma_shared_layout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    r0 = T.alloc_local((128, 8), "float32", layout=wg_local_layout(8))
    r1 = T.alloc_local((128, 16), "float32", layout=tcgen05_atom_layout("32x32b", (128, 16), "float32"))
    s0 = T.alloc_shared((64, 64), "float16", layout=mma_shared_layout("float16", 3, (64, 64)))
    t0 = T.decl_buffer((128, 32), "float32", scope="tmem", allocated_addr=0, layout=tmem_datapath_layout("D", 128, 32))
    s0[0, 0] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    r0 = T.alloc_buffer((128, 8), scope="local", layout=TileLayout(S[(128, 8) : (1 @ tid_in_wg, 1)]))
    r1 = T.alloc_buffer((128, 16), scope="local", layout=TileLayout(S[(128, 16) : (1 @ tid_in_wg, 1)]))
    s0 = T.alloc_buffer((64, 64), "float16", scope="shared", layout=ComposeLayout(3, 3, 3, TileLayout(S[4096 : 1])))
    t0 = T.decl_buffer((128, 32), scope="tmem", allocated_addr=T.uint32(0), layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))
    s0[0, 0] = T.float16(1.0)
