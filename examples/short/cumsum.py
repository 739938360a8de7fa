# Y has the running sums of the rows of X, summed in float32, as in ../rows/cumsum.py, with layouts that
# the compiler infers: the scan follows the copy.
#
#   warpwright run examples/short/cumsum.py --kernel 'build(dtype="float32", threads=128)' --expect 'Y[:, 0] == X[:, 0]' --expect 'Y[:, 1023] ~= sum(X, 1)'
#   warpwright explain examples/short/cumsum.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=16, n=1024, threads=64, dtype="bfloat16"):
    @T.prim_func
    def cumsum(X: T.Buffer((m, n), dtype), Y: T.Buffer((m, n), dtype)):
        T.device_entry()
        bx = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_local((n,), dtype, layout="auto")
        f = T.alloc_local((n,), "float32", layout="auto")
        Tx.cta.copy(x, X[bx, :])
        Tx.cta.cast(f, x)
        Tx.cta.cumsum(f, f)
        Tx.cta.cast(x, f)
        Tx.cta.copy(Y[bx, :], x)

    return cumsum


kernel = build()
