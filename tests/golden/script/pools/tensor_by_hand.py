# A pool only for the columns; the program allocates by itself.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64), "float32")
    T.device_entry()
    warp_id = T.warp_id([4])
    slot = T.alloc_shared([1], "uint32")
    pool = T.TMEMPool(None, total_cols=64, tmem_addr=slot)
    x = pool.alloc((128, 32), "float32")
    y = pool.alloc((128, 32), "float32")
    if warp_id == 0:
        T.ptx.tcgen05.alloc(T.address_of(slot), n_cols=64, cta_group=1)
    T.cuda.cta_sync()
    regs = T.wg_reg_tile(32, "float32")
    Tx.wg.copy_async(regs[:, :], y[:, :])
    T.ptx.tcgen05.wait.ld()
    T.cuda.cta_sync()
    if warp_id == 0:
        T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol, tid_in_wg

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64))
    T.device_entry()
    warp_id = T.warp_id([4])
    slot = T.alloc_shared((1,), "uint32")
    x = T.decl_buffer((128, 32), scope="tmem", allocated_addr=slot[0], layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))
    y = T.decl_buffer((128, 32), scope="tmem", allocated_addr=slot[0] + T.uint32(32), layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))
    if warp_id == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(slot[0]), T.uint32(64))
    T.cuda.cta_sync()
    regs = T.alloc_buffer((128, 32), scope="local", layout=TileLayout(S[(128, 32) : (1 @ tid_in_wg, 1)]))
    Tx.wg.copy_async(regs[0:128, 0:32], y[0:128, 0:32])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    T.cuda.cta_sync()
    if warp_id == 0:
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](slot[0], T.uint32(64))
