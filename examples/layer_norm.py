# Y has the rows of X with mean 0 and variance 1, then scaled by Scale and moved by Shift. A block takes
# a row, which stays in registers: the mean first, then the mean of the squares of what differs from it.
#
#   warpwright run examples/layer_norm.py --arg Scale=ones --arg Shift=zeros --expect 'float32(sum(Y * Y, 1)) ~= 1024'
#   warpwright explain examples/layer_norm.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, tx


def build(m=16, n=1024, threads=128, epsilon=1e-5, dtype="float32"):
    row = TileLayout(S[(threads, n // threads) : (1 @ tx, 1)])
    of_row = TileLayout(S[1] + R[threads : 1 @ tx])  # in every thread

    @T.prim_func
    def layer_norm(X_ptr: T.handle, Scale_ptr: T.handle, Shift_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Scale = T.match_buffer(Scale_ptr, (n,), dtype)
        Shift = T.match_buffer(Shift_ptr, (n,), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        T.device_entry()
        bx = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_buffer((n,), dtype, scope="local", layout=row)
        y = T.alloc_buffer((n,), dtype, scope="local", layout=row)
        scale = T.alloc_buffer((n,), dtype, scope="local", layout=row)
        mean = T.alloc_buffer((1,), dtype, scope="local", layout=of_row)
        spread = T.alloc_buffer((1,), dtype, scope="local", layout=of_row)
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
