# C = A + B, where all blocks of rows of A get the same B: the CTAs of a cluster have different rows, and need
# the same tile of B. Each loads its share of the tile, and the copy engine puts it into the shared memory of
# all of them: each part of the tile is asked for once per cluster, not once per CTA.
#
# Every CTA expects the whole tile, no matter which CTA sends it. `cluster_sync` comes before the first copy: a CTA must
# not send to another whose mbarrier is not initialised.
#
#   warpwright run examples/cluster_multicast.py --expect 'C[64:128, :] == A[64:128, :] + B'
#   warpwright run examples/cluster_multicast.py --kernel 'build(cluster=4)' --expect 'C[64:128, :] == A[64:128, :] + B'
#   warpwright explain examples/cluster_multicast.py
#   warpwright explain examples/cluster_multicast.py --kernel 'build(multicast=False)'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, warpid


def build(m=512, n=256, rows=64, columns=64, cluster=2, multicast=True):
    owned = TileLayout(S[(4, rows // 4, 32, columns // 32) : (1 @ warpid, columns // 32, 1 @ laneid, 1)])
    everyone = tuple(range(cluster))
    bytes = rows * columns * 4  # of a tile

    @T.prim_func
    def cluster_multicast(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle):
        A = T.match_buffer(A_ptr, (m, n), "float32")
        B = T.match_buffer(B_ptr, (rows, n), "float32")
        C = T.match_buffer(C_ptr, (m, n), "float32")
        T.device_entry()
        bx = T.cluster_id([(n // columns) * (m // (rows * cluster))])
        rank = T.cta_id_in_cluster([cluster])
        thread = T.thread_id([128])
        pool = T.SMEMPool()
        own = pool.alloc((rows, columns), "float32", align=1024)
        common = pool.alloc((rows, columns), "float32", align=1024)
        full = T.TMABar(pool, 1)
        full.init(1)
        pool.commit()
        T.ptx.fence.mbarrier_init()
        T.cuda.cluster_sync()
        y: T.let = (bx // (n // columns) * cluster + rank) * rows
        x: T.let = bx % (n // columns) * columns
        if thread == 0:
            full.arrive(0, tx_count=2 * bytes)
            Tx.copy_async(own, A[y : y + rows, x : x + columns], mbar=full.ptr_to([0]))
            if multicast:
                Tx.copy_async(common, B[:, x : x + columns], mbar=full.ptr_to([0]), multicast=everyone, split=True)
            else:
                Tx.copy_async(common, B[:, x : x + columns], mbar=full.ptr_to([0]))
        full.wait(0, 0)
        a = T.alloc_buffer((rows, columns), "float32", scope="local", layout=owned)
        b = T.alloc_buffer((rows, columns), "float32", scope="local", layout=owned)
        Tx.cta.copy(a, own)
        Tx.cta.copy(b, common)
        Tx.cta.add(a, a, b)
        Tx.cta.copy(C[y : y + rows, x : x + columns], a)

    return cluster_multicast


kernel = build()
