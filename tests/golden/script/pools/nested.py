# Pools in the hands of a function of the program, inside of a branch.
@T.inline
def stage(pool, shape):
    tile = pool.alloc(shape, "float16", align=128)
    tile[0, 0] = T.float16(1)

def pieces(pool, n):
    return [pool.alloc((8,), "float32") for _ in range(n)]

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64), "float32")
    T.device_entry()
    wg_id = T.warpgroup_id([2])
    tid = T.thread_id_in_wg([128])
    smem = T.SMEMPool()
    tmem = T.TMEMPool(smem, 32, alloc_warp=4)
    stage(smem, (8, 8))
    stage(smem, (4, 4))
    parts = pieces(smem, 2)
    smem.commit()
    x = tmem.alloc((128, 32))
    if wg_id == 1:
        tmem.commit()
    T.cuda.cta_sync()
    parts[1][tid % 8] = parts[0][0]
    if wg_id == 1:
        tmem.dealloc()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64))
    T.device_entry()
    wg_id = T.warpgroup_id([2])
    tid = T.thread_id_in_wg([128])
    smem = T.alloc_buffer((352,), "uint8", scope="shared.dyn", align=128)
    tmem_addr = T.decl_buffer((1,), "uint32", data=smem.data, scope="shared.dyn")
    tile = T.decl_buffer((8, 8), "float16", data=smem.data, byte_offset=128, scope="shared.dyn")
    tile[0, 0] = T.float16(1.0)
    tile_1 = T.decl_buffer((4, 4), "float16", data=smem.data, byte_offset=256, scope="shared.dyn")
    tile_1[0, 0] = T.float16(1.0)
    parts_0 = T.decl_buffer((8,), data=smem.data, byte_offset=288, scope="shared.dyn")
    parts_1 = T.decl_buffer((8,), data=smem.data, byte_offset=320, scope="shared.dyn")
    x = T.decl_buffer((128, 32), scope="tmem", allocated_addr=tmem_addr[0], layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))
    if wg_id == 1:
        warp = T.warp_id()
        if warp == 4:
            T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(tmem_addr[0]), T.uint32(32))
            T.cuda.warp_sync()
    T.cuda.cta_sync()
    parts_1[tid % 8] = parts_0[0]
    if wg_id == 1:
        warp = T.warp_id()
        if warp == 4:
            T.ptx["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"]()
            T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](tmem_addr[0], T.uint32(32))
