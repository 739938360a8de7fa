# A pipeline of two stages in tensor memory: while one warpgroup fills a stage, the other one empties the stage
# filled before; B is A + A. The stage is known at run time only. Warps w and w + 4 reach the same
# quarter of the lanes, so one warpgroup can load what the other has stored.
#
#   warpwright run examples/tcgen05_stages.py --expect 'B == A + A'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TCol, TileLayout, TLane, wg_local_layout


def build(tiles=5, N=32, dtype="float32"):
    # Stage, row, column: stages are side by side, N columns each, rows are lanes.
    staged = TileLayout(S[(2, 128, N) : (N @ TCol, 1 @ TLane, 1 @ TCol)])
    columns = max(32, 1 << (2 * N - 1).bit_length())

    @T.prim_func
    def stages(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (tiles, 128, N), dtype)
        B = T.match_buffer(B_ptr, (tiles, 128, N), dtype)
        T.device_entry()
        wg = T.warpgroup_id([2])
        warp = T.warp_id([8])
        T.thread_id([256])
        tmem_addr = T.alloc_shared([1], "uint32")
        tile = T.alloc_buffer((128, N), dtype, scope="local", layout=wg_local_layout(N))
        tile_reg = tile.local(N)
        if warp == 0:
            T.ptx.tcgen05.alloc(T.address_of(tmem_addr), n_cols=columns, cta_group=1)
            T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
        T.cuda.cta_sync()
        stage = T.decl_buffer((2, 128, N), dtype, scope="tmem", allocated_addr=tmem_addr[0],
                              layout=staged)
        for t in T.serial(tiles + 1):
            if wg == 0:
                if t < tiles:
                    Tx.wg.copy(tile[:, :], A[t, :, :])
                    Tx.wg.copy_async(stage[t % 2, :, :], tile[:, :])
                    T.ptx.tcgen05.wait.st()
            else:
                if t > 0:
                    Tx.wg.copy_async(tile[:, :], stage[(t + 1) % 2, :, :])
                    T.ptx.tcgen05.wait.ld()
                    for i in T.unroll(N):
                        tile_reg[i] = tile_reg[i] + tile_reg[i]
                    Tx.wg.copy(B[t - 1, :, :], tile[:, :])
            # Others may now load what was stored, and overwrite what was loaded.
            T.ptx.tcgen05.fence.before_thread_sync()
            T.cuda.cta_sync()
            T.ptx.tcgen05.fence.after_thread_sync()
        if warp == 0:
            T.ptx.tcgen05.dealloc(tmem_addr[0], n_cols=columns, cta_group=1)

    return stages


kernel = build()
