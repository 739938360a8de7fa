# Y has the softmax of each row of X: exp(x - most) / sum of these, where `most` is the greatest element
# of the row. A block takes a row, which stays in registers; both reductions go over all its warps.
#
#   warpwright run examples/softmax.py --expect 'float32(sum(Y, 1)) ~= 1'
#   warpwright explain examples/softmax.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, tx


def build(m=16, n=1024, threads=128, dtype="float32"):
    # Thread t has the elements t * n/threads, and so on; every thread has what belongs to the row.
    row = TileLayout(S[(threads, n // threads) : (1 @ tx, 1)])
    of_row = TileLayout(S[1] + R[threads : 1 @ tx])

    @T.prim_func
    def softmax(X_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        T.device_entry()
        bx = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_buffer((n,), dtype, scope="local", layout=row)
        most = T.alloc_buffer((1,), dtype, scope="local", layout=of_row)
        total = T.alloc_buffer((1,), dtype, scope="local", layout=of_row)
        Tx.cta.copy(x, X[bx, :])
        Tx.cta.max(most, x)
        Tx.cta.sub(x, x, most)
        Tx.cta.exp(x, x)
        Tx.cta.sum(total, x)
        Tx.cta.fdiv(x, x, total)
        Tx.cta.copy(Y[bx, :], x)

    return softmax


kernel = build()
