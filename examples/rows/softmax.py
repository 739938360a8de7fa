# Y has the softmax of each row of X, with layouts that the compiler infers: the copies decide for `x`, and the
# reductions for what belongs to the row.
#
#   warpwright run examples/rows/softmax.py --expect 'float32(sum(Y, 1)) ~= 1'
#   warpwright explain examples/rows/softmax.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=16, n=1024, threads=128, dtype="float32"):
    @T.prim_func
    def softmax(X: T.Buffer((m, n), dtype), Y: T.Buffer((m, n), dtype)):
        T.device_entry()
        bx = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_local((n,), dtype, layout="auto")
        of_row = T.alloc_local((1,), dtype, layout="auto")
        Tx.cta.copy(x, X[bx, :])
        Tx.cta.max(of_row, x)
        Tx.cta.sub(x, x, of_row)
        Tx.cta.exp(x, x)
        Tx.cta.sum(of_row, x)
        Tx.cta.fdiv(x, x, of_row)
        Tx.cta.copy(Y[bx, :], x)

    return softmax


kernel = build()
