# Y has the softmax of each row of X, for rows that no CTA can hold: the CTAs of a cluster share a row,
# each keeps its part in registers, and X is read once. `Tx.cluster.max` and `.sum` go over the threads
# of all these CTAs, through their shared memory, and give the result to every thread.
#
#   warpwright run examples/softmax_cluster.py --kernel 'build(m=2, n=8192, threads=128)' --expect 'float32(sum(Y, 1)) ~= 1'
#   warpwright explain examples/softmax_cluster.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, cbx, tx


def build(m=16, n=65536, cluster=4, threads=512, dtype="float32"):
    part = n // cluster  # of a row, in each CTA
    wide = 4  # elements side by side in a thread
    loads = part // (threads * wide)
    # The same registers, as the part of a CTA and as the row of the cluster.
    of_cta = TileLayout(S[(loads, threads, wide) : (wide, 1 @ tx, 1)])
    of_cluster = TileLayout(S[(cluster, loads, threads, wide) : (1 @ cbx, wide, 1 @ tx, 1)])

    @T.prim_func
    def softmax_cluster(X_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        T.device_entry()
        row = T.cluster_id([m])
        rank = T.cta_id_in_cluster([cluster])
        T.thread_id([threads])
        x = T.alloc_buffer((part,), dtype, scope="local", layout=of_cta)
        whole = x.view(n, layout=of_cluster)
        most = T.alloc_buffer((1,), dtype, scope="local")  # in every thread
        total = T.alloc_buffer((1,), dtype, scope="local")
        Tx.cta.copy(x, X[row, rank * part : rank * part + part])
        Tx.cluster.max(most, whole)
        Tx.cta.sub(x, x, most)
        Tx.cta.exp(x, x)
        Tx.cluster.sum(total, whole)
        Tx.cta.fdiv(x, x, total)
        Tx.cta.copy(Y[row, rank * part : rank * part + part], x)

    return softmax_cluster


kernel = build()
