# B = A through tensor memory, where the tensor core copies the tile (tcgen05.cp): one thread starts the copy
# from shared memory, and the way back is through registers.
#
#   warpwright run examples/tcgen05_cp.py --expect 'B == A'
#   warpwright explain examples/tcgen05_cp.py --kernel 'build(swizzle=32)'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import ComposeLayout, S, TCol, TileLayout, TLane, tid_in_wg


def build(columns=32, swizzle=128):
    # Rows as wide as the swizzle, 128 of them, then the next columns; 16-byte units are exchanged.
    wide = swizzle // 4
    tile = TileLayout(S[(128, columns // wide, wide) : (wide, 128 * wide, 1)])
    swizzled = ComposeLayout(2, {32: 1, 64: 2, 128: 3}[swizzle], 3, tile)

    @T.prim_func
    def tcgen05_cp(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (128, columns), "float32")
        B = T.match_buffer(B_ptr, (128, columns), "float32")
        T.device_entry()
        warp_id = T.warp_id([4])
        tid = T.thread_id([128])
        addr = T.alloc_shared([1], "uint32")
        bar = T.alloc_shared([1], "uint64")
        # The pattern of a swizzle begins at a multiple of 8 of its rows.
        smem = T.alloc_buffer((128, columns), "float32", scope="shared", layout=swizzled, align=8 * swizzle)
        if warp_id == 0:
            T.ptx.tcgen05.alloc(T.address_of(addr), n_cols=32, cta_group=1)
        if tid == 0:
            T.ptx.mbarrier.init(T.address_of(bar), 1)
        Tx.cta.copy(smem[:, :], A[:, :])
        T.ptx.fence.proxy_async("shared::cta")  # the tensor core reads what threads have written
        T.cuda.cta_sync()
        tmem = T.decl_buffer((128, columns), "float32", scope="tmem", allocated_addr=addr[0],
                             layout=TileLayout(S[(128, columns) : (1 @ TLane, 1 @ TCol)]))
        if tid == 0:
            Tx.copy_async(tmem[:, :], smem[:, :])
            T.ptx.tcgen05.commit(T.address_of(bar), cta_group=1)
        T.cuda.mbarrier_wait(T.address_of(bar), 0)
        T.ptx.tcgen05.fence.after_thread_sync()
        R = T.alloc_buffer((128, columns), "float32", scope="local",
                           layout=TileLayout(S[(128, columns) : (1 @ tid_in_wg, 1)]))
        Tx.wg.copy_async(R[:, :], tmem[:, :])
        T.ptx.tcgen05.wait.ld()
        Tx.cta.copy(B[:, :], R[:, :])
        T.cuda.cta_sync()
        if warp_id == 0:
            T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
            T.ptx.tcgen05.dealloc(addr[0], n_cols=32, cta_group=1)

    return tcgen05_cp


tcgen05_cp = build()
