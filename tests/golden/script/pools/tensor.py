# Columns of one allocation in tensor memory, handed out with their layouts.
from tvm.tirx.layout import S, TileLayout, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64), "float32")
    T.device_entry()
    bx = T.cta_id([1])
    wg_id = T.warpgroup_id([1])
    warp = T.warp_id_in_wg([4])
    lane = T.lane_id([32])
    pool = T.SMEMPool()
    tmem_pool = T.TMEMPool(pool, total_cols=256, cta_group=1)
    pool.commit()
    acc = tmem_pool.alloc((128, 64), "float32")
    half = tmem_pool.alloc((128, 64), "float16")
    narrow = tmem_pool.alloc((64, 32), "float32", datapath="F")
    wide = tmem_pool.alloc((128, 8), "float32", layout=TileLayout(S[(128, 8) : (1 @ TLane, 2 @ TCol)]), cols=32)
    col = T.meta_var(tmem_pool.offset)
    sf = tmem_pool.alloc_sf((128, 4), "float8_e8m0fnu", sf_per_mma=4)
    tmem_pool.move_base_to(0)
    alias = tmem_pool.alloc((128, 128), "float16")
    tmem_pool.commit()
    T.cuda.cta_sync()
    regs = T.wg_reg_tile(64, "float32")
    if wg_id == 0:
        Tx.wg.copy_async(regs[:, :], acc[:, :])
        T.ptx.tcgen05.wait.ld()
    T.ptx.tcgen05.ld(tmem_pool.addr, regs.local(64)[0], shape="32x32b", num=1, col=col)
    T.ptx.tcgen05.wait.ld()
    T.cuda.cta_sync()
    tmem_pool.dealloc()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol, tid_in_wg

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64))
    T.device_entry()
    bx = T.cta_id([1])
    wg_id = T.warpgroup_id([1])
    warp = T.warp_id_in_wg([4])
    lane = T.lane_id([32])
    pool = T.alloc_buffer((4,), "uint8", scope="shared.dyn")
    tmem_pool_addr = T.decl_buffer((1,), "uint32", data=pool.data, scope="shared.dyn")
    acc = T.decl_buffer((128, 64), scope="tmem", allocated_addr=tmem_pool_addr[0], layout=TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)]))
    half = T.decl_buffer((128, 64), "float16", scope="tmem", allocated_addr=tmem_pool_addr[0] + T.uint32(64), layout=TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)]))
    narrow = T.decl_buffer((64, 32), scope="tmem", allocated_addr=tmem_pool_addr[0] + T.uint32(96), layout=TileLayout(S[(4, 16, 32) : (32 @ TLane, 1 @ TLane, 1 @ TCol)]))
    wide = T.decl_buffer((128, 8), scope="tmem", allocated_addr=tmem_pool_addr[0] + T.uint32(128), layout=TileLayout(S[(128, 8) : (1 @ TLane, 2 @ TCol)]))
    sf = T.decl_buffer((128, 4), "float8_e8m0fnu", scope="tmem", allocated_addr=tmem_pool_addr[0] + T.uint32(160), layout=TileLayout(S[(4, 32, 4) : (4 @ TCol, 1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]))
    alias = T.decl_buffer((128, 128), "float16", scope="tmem", allocated_addr=tmem_pool_addr[0], layout=TileLayout(S[(128, 128) : (1 @ TLane, 1 @ TCol)]))
    warp_1 = T.warp_id()
    if warp_1 == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(tmem_pool_addr[0]), T.uint32(256))
        T.cuda.warp_sync()
    T.cuda.cta_sync()
    regs = T.alloc_buffer((128, 64), scope="local", layout=TileLayout(S[(128, 64) : (1 @ tid_in_wg, 1)]))
    if wg_id == 0:
        Tx.wg.copy_async(regs[0:128, 0:64], acc[0:128, 0:64])
        T.ptx["tcgen05.wait::ld.sync.aligned"]()
    v = T.decl_buffer((64,), data=regs.data, scope="local")
    T.ptx.tcgen05.ld(tmem_pool_addr[0], 0, 160, "32x32b", 1, False, v[0])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    T.cuda.cta_sync()
    if warp_1 == 0:
        T.ptx["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"]()
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](tmem_pool_addr[0], T.uint32(256))
