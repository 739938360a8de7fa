from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TCol, TileLayout, TLane, tid_in_wg


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (128, 8), "float32")
    B = T.match_buffer(B_ptr, (128, 8), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warpgroup_id([1])
    warp = T.warp_id_in_wg([4])
    T.lane_id([32])
    address = T.alloc_shared([1], "uint32")
    if warp == 0:
        T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(T.address_of(address), 32)
    T.cuda.cta_sync()
    tile = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0,
                         layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))
    R = T.alloc_buffer((128, 8), "float32", scope="local",
                       layout=TileLayout(S[(128, 8) : (1 @ tid_in_wg, 1)]))
    Tx.wg.copy(R[:, :], A[:, :])
    if warp < 2:
        Tx.wg.copy_async(tile[:, :], R[:, :])
        T.ptx.tcgen05.wait__st.sync.aligned()
    Tx.wg.copy_async(R[:, :], tile[:, :])
    T.ptx.tcgen05.wait__ld.sync.aligned()
    Tx.wg.copy(B[:, :], R[:, :])
    T.cuda.cta_sync()
    if warp == 0:
        T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
        T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(address[0], 32)
