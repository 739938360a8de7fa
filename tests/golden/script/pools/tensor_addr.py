# The address is kept where the program says; other warps allocate and give back.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64), "float32")
    T.device_entry()
    warp_id = T.warp_id([8])
    lane = T.lane_id([32])
    pool = T.SMEMPool()
    slot = pool.alloc([1], "uint32", align=4)
    pool.commit()
    first = T.TMEMPool(None, total_cols=64, alloc_warp=2, dealloc_warp=1, tmem_addr=slot, sync_after_alloc=False)
    x = first.alloc((128, 64), "float32")
    first.commit()
    T.cuda.cta_sync()
    first.dealloc()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64))
    T.device_entry()
    warp_id = T.warp_id([8])
    lane = T.lane_id([32])
    pool = T.alloc_buffer((4,), "uint8", scope="shared.dyn")
    slot = T.decl_buffer((1,), "uint32", data=pool.data, scope="shared.dyn")
    x = T.decl_buffer((128, 64), scope="tmem", allocated_addr=slot[0], layout=TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)]))
    if warp_id == 2:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(slot[0]), T.uint32(64))
    T.cuda.cta_sync()
    if warp_id == 1:
        T.ptx["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"]()
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](slot[0], T.uint32(64))
