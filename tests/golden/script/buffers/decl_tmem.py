# Tensor memory is addressed by an expression.
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    addr = T.alloc_shared([1], "uint32")
    t = T.decl_buffer((128, 32), "float32", scope="tmem", allocated_addr=addr[0], layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))
    u = T.decl_buffer((128, 16), "float32", scope="tmem", allocated_addr=t.allocated_addr[0] + 32, layout=TileLayout(S[(128, 16) : (1 @ TLane, 1 @ TCol)]))
    r = T.wg_reg_tile(16, "float32")
    Tx.wg.copy_async(r, u)
    A[tx // 16, tx % 16] = t.shape[1]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol, tid_in_wg

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    addr = T.alloc_shared((1,), "uint32")
    t = T.decl_buffer((128, 32), scope="tmem", allocated_addr=addr[0], layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))
    u = T.decl_buffer((128, 16), scope="tmem", allocated_addr=addr[0] + T.uint32(32), layout=TileLayout(S[(128, 16) : (1 @ TLane, 1 @ TCol)]))
    r = T.alloc_buffer((128, 16), scope="local", layout=TileLayout(S[(128, 16) : (1 @ tid_in_wg, 1)]))
    Tx.wg.copy_async(r[0:128, 0:16], u[0:128, 0:16])
    A[tx // 16, tx % 16] = T.float32(32.0)
