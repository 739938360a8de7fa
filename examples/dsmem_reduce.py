# Y has the sum of each column of X, for more rows than one CTA should read: the CTAs of a cluster share
# the rows out, and each has a sum of its own for every column. Then they share the columns out: each CTA
# sends every other one its sums of that one's columns, from shared memory to shared memory, and adds up
# what it gets. X is read once, and nothing goes through global memory.
#
# `remote_cta_id=` says whose shared memory the destination is in; the mbarrier of that CTA hears of the
# bytes. So each CTA waits for its own mbarrier, until the sums of all CTAs are there.
#
#   warpwright run examples/dsmem_reduce.py --expect 'Y ~= sum(X, 0)'
#   warpwright explain examples/dsmem_reduce.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


def build(m=256, n=2048, cluster=4, threads=128):
    wide = 4  # columns of a thread
    columns = threads * wide  # of a cluster
    rows = m // cluster  # of a CTA
    share = columns // cluster  # columns whose sums a CTA adds up
    assert m % cluster == 0 and n % columns == 0 and share % threads == 0

    @T.prim_func
    def dsmem_reduce(X_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), "float32")
        Y = T.match_buffer(Y_ptr, (n,), "float32")
        T.device_entry()
        block = T.cluster_id([n // columns])
        rank = T.cta_id_in_cluster([cluster])
        tid = T.thread_id([threads])
        mine = T.alloc_buffer((columns,), "float32", scope="shared", align=128)
        parts = T.alloc_buffer((cluster, share), "float32", scope="shared", align=128)
        bar = T.alloc_buffer((1,), "uint64", scope="shared")
        if tid == 0:
            T.ptx.mbarrier.init(bar.ptr_to([0]), 1)
            T.ptx.fence.mbarrier_init()

        # The sums of this CTA's rows.
        of_columns = TileLayout(S[(threads, wide) : (1 @ tx, 1)])
        x = T.alloc_buffer((columns,), "float32", scope="local", layout=of_columns)
        total = T.alloc_buffer((columns,), "float32", scope="local", layout=of_columns)
        Tx.cta.zero(total)
        for i in range(rows):
            Tx.cta.copy(x, X[rank * rows + i, block * columns : block * columns + columns])
            Tx.cta.add(total, total, x)
        Tx.cta.copy(mine, total)

        # The copy engine sees what threads have stored; all CTAs run, and have made their mbarriers.
        T.ptx["fence.proxy.async.shared::cta"]()
        T.cuda.cluster_sync()
        if tid == 0:
            T.ptx.mbarrier.arrive.expect_tx(bar.ptr_to([0]), cluster * share * 4)
            for c in range(cluster):
                Tx.copy_async(parts[rank, 0:share], mine[c * share : c * share + share],
                              remote_cta_id=c, mbar=bar.ptr_to([0]))
        T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)

        of_share = TileLayout(S[(threads, share // threads) : (1 @ tx, 1)])
        part = T.alloc_buffer((share,), "float32", scope="local", layout=of_share)
        result = T.alloc_buffer((share,), "float32", scope="local", layout=of_share)
        Tx.cta.zero(result)
        for c in range(cluster):
            Tx.cta.copy(part, parts[c, 0:share])
            Tx.cta.add(result, result, part)
        Tx.cta.copy(Y[block * columns + rank * share : block * columns + rank * share + share], result)
        T.cuda.cluster_sync()  # no CTA ends while the engine still reads its sums

    return dsmem_reduce


kernel = build()
