# An asynchronous product into tensor memory.
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    addr = T.alloc_shared([1], "uint32")
    C = T.decl_buffer((128, 64), "float32", scope="tmem", allocated_addr=addr[0], layout=TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)]))
    X = T.alloc_shared((128, 16), "float16")
    Y = T.alloc_shared((64, 16), "float16")
    if tx == 0:
        Tx.gemm_async(C, X, Y, accum=False, dispatch="tcgen05", cta_group=1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    addr = T.alloc_shared((1,), "uint32")
    C = T.decl_buffer((128, 64), scope="tmem", allocated_addr=addr[0], layout=TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)]))
    X = T.alloc_buffer((128, 16), "float16", scope="shared")
    Y = T.alloc_buffer((64, 16), "float16", scope="shared")
    if tx == 0:
        Tx.gemm_async(C[0:128, 0:64], X[0:128, 0:16], Y[0:64, 0:16], cta_group=1, dispatch="tcgen05")
