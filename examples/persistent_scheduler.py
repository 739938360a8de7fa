# B = A.T by a few persistent CTAs that take tile after tile. The scheduler says which: down groups of four rows of
# tiles, so that neighbours in time use the same rows of A.
#
#   warpwright run examples/persistent_scheduler.py --expect 'B == A.T'
from tvm.backend.cuda.lang import ClusterPersistentScheduler2D
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=256, n=320, tile=64, ctas=4):
    @T.prim_func
    def transpose(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (m, n), "float16")
        B = T.match_buffer(B_ptr, (n, m), "float16")
        T.device_entry()
        cta = T.cta_id([ctas])
        T.thread_id([128])
        staged = T.alloc_buffer((tile, tile), "float16", scope="shared")
        tiles = ClusterPersistentScheduler2D("tiles", m // tile, n // tile, ctas, l2_group_size=4)
        tiles.init(cta)
        while tiles.valid():
            row = T.meta_var(tiles.m_idx * tile)
            col = T.meta_var(tiles.n_idx * tile)
            Tx.cta.copy(staged[:, :], A[row : row + tile, col : col + tile])
            T.cuda.cta_sync()
            turned = staged.permute(1, 0)
            Tx.cta.copy(B[col : col + tile, row : row + tile], turned[:, :])
            T.cuda.cta_sync()
            tiles.next_tile()

    return transpose


kernel = build()
