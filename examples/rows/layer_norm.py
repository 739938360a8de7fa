# Y has the rows of X with mean 0 and variance 1, scaled by Scale and shifted by Shift. The compiler infers
# the layouts.
#
#   warpwright run examples/rows/layer_norm.py --arg Scale=ones --arg Shift=zeros --expect 'float32(sum(Y * Y, 1)) ~= 1024'
#   warpwright explain examples/rows/layer_norm.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=16, n=1024, threads=128, epsilon=1e-5, dtype="float32"):
    @T.prim_func
    def layer_norm(X: T.Buffer((m, n), dtype), Scale: T.Buffer((n,), dtype),
                   Shift: T.Buffer((n,), dtype), Y: T.Buffer((m, n), dtype)):
        T.device_entry()
        bx = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_local((n,), dtype, layout="auto")
        y = T.alloc_local((n,), dtype, layout="auto")
        scale = T.alloc_local((n,), dtype, layout="auto")
        mean = T.alloc_local((1,), dtype, layout="auto")
        spread = T.alloc_local((1,), dtype, layout="auto")
        Tx.cta.copy(x, X[bx, :])
        Tx.cta.sum(mean, x)
        Tx.cta.mul(mean, mean, 1.0 / n)
        Tx.cta.sub(x, x, mean)
        Tx.cta.mul(y, x, x)
        Tx.cta.sum(spread, y)
        Tx.cta.fma(spread, spread, 1.0 / n, epsilon)
        Tx.cta.rsqrt(spread, spread)
        Tx.cta.mul(x, x, spread)
        Tx.cta.copy(scale, Scale[:])
        Tx.cta.copy(y, Shift[:])
        Tx.cta.fma(y, x, scale, y)
        Tx.cta.copy(Y[bx, :], y)

    return layer_norm


kernel = build()
