# Y = X / sqrt(mean(X * X) + eps) * W for each row of X. The compiler infers the layouts: the copies decide,
# and W is in the threads that have its column of X.
#
#   warpwright run examples/rows/rms_norm.py --expect 'Y ~= X / sqrt(mean(X ** 2, axis=1, keepdims=True) + 1e-5) * W'
#   warpwright explain examples/rows/rms_norm.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=16, n=1024, threads=64, eps=1e-5, dtype="bfloat16"):
    @T.prim_func
    def rms_norm(X: T.Buffer((m, n), dtype), W: T.Buffer((n,), dtype), Y: T.Buffer((m, n), dtype)):
        T.device_entry()
        bx = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_local((n,), dtype, layout="auto")
        w = T.alloc_local((n,), dtype, layout="auto")
        f = T.alloc_local((n,), "float32", layout="auto")
        square = T.alloc_local((n,), "float32", layout="auto")
        scale = T.alloc_local((1,), "float32", layout="auto")
        Tx.cta.copy(x, X[bx, :])
        Tx.cta.copy(w, W)
        Tx.cta.cast(f, x)
        Tx.cta.mul(square, f, f)
        Tx.cta.sum(scale, square)
        Tx.cta.fma(scale, scale, 1 / n, eps)
        Tx.cta.rsqrt(scale, scale)
        Tx.cta.mul(f, f, scale)
        Tx.cta.mul(f, f, w)
        Tx.cta.cast(x, f)
        Tx.cta.copy(Y[bx, :], x)

    return rms_norm


kernel = build()
