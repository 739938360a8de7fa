# B is the transpose of A, tile by tile, and TMA moves the tiles: as transpose.py, but from global to shared memory
# and back no thread computes an address. ldmatrix.trans turns 8x8 blocks while it loads them
# into registers, stmatrix puts them back.
#
#   warpwright run examples/tma_transpose.py --expect 'B == A.T'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, warpid


def build(m=128, n=128, tile=64, dtype="float16"):
    # Warp w holds rows 16w to 16w+15 of the transposed tile, in 8x8 blocks.
    warps = tile // 16
    registers = TileLayout(
        S[(warps, 2, 8, tile // 8, 4, 2) : (1 @ warpid, 2, 4 @ laneid, 4, 1 @ laneid, 1)])

    @T.prim_func
    def tma_transpose(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (m, n), dtype)
        B = T.match_buffer(B_ptr, (n, m), dtype)
        T.device_entry()
        bx, by = T.cta_id([n // tile, m // tile])
        thread = T.thread_id([warps * 32])
        pool = T.SMEMPool()
        staged = pool.alloc_mma((tile, tile), dtype)
        full = T.TMABar(pool, 1)
        full.init(1)
        pool.commit()
        R = T.alloc_buffer((tile, tile), dtype, scope="local", layout=registers)
        y: T.let = by * tile
        x: T.let = bx * tile
        if thread == 0:
            T.ptx.fence.mbarrier_init()
            full.arrive(0, tx_count=tile * tile * 2)
            Tx.copy_async(staged[:, :], A[y : y + tile, x : x + tile], mbar=full.ptr_to([0]))
        T.cuda.cta_sync()
        full.wait(0, 0)
        turned = staged.permute(1, 0)
        Tx.cta.copy(R[:, :], turned[:, :])
        T.cuda.cta_sync()
        Tx.cta.copy(staged[:, :], R[:, :])
        T.ptx.fence.proxy_async("shared::cta")
        T.cuda.cta_sync()
        if thread == 0:
            Tx.copy_async(B[x : x + tile, y : y + tile], staged[:, :], dispatch="tma")
            T.ptx.cp_async.bulk.commit_group()
            T.ptx.cp_async.bulk.wait_group(0)

    return tma_transpose


kernel = build()
