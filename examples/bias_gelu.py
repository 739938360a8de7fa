# Y = gelu(X + bias), one bias for each column: bfloat16 in memory, float32 in between, so that only the
# result is rounded. `fast=True` takes the approximate instructions, which are still nearer than bfloat16.
#
#   warpwright run examples/bias_gelu.py --expect 'Y ~= (X + bias) / 2 * (1 + erf((X + bias) / sqrt(2)))'
#   warpwright explain examples/bias_gelu.py --kernel 'build(fast=True)'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, tx


def build(m=64, n=256, rows=8, fast=False):
    # A warp has a row of 256 numbers, 8 in a row for each lane: 16 bytes. Warp w has rows w and w + 4.
    tile = TileLayout(S[(rows // 4, 4, 32, n // 32) : (n // 32, 32 @ tx, 1 @ tx, 1)])
    # Every warp has all of the bias.
    of_columns = TileLayout(S[(32, n // 32) : (1 @ tx, 1)] + R[4 : 32 @ tx])

    @T.prim_func
    def bias_gelu(X_ptr: T.handle, bias_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), "bfloat16")
        bias = T.match_buffer(bias_ptr, (n,), "bfloat16")
        Y = T.match_buffer(Y_ptr, (m, n), "bfloat16")
        T.device_entry()
        bx = T.cta_id([m // rows])
        T.thread_id([128])
        x = T.alloc_buffer((rows, n), "bfloat16", scope="local", layout=tile)
        h = T.alloc_buffer((rows, n), "float32", scope="local", layout=tile)
        b = T.alloc_buffer((n,), "bfloat16", scope="local", layout=of_columns)
        Tx.cta.copy(x, X[bx * rows : bx * rows + rows, :])
        Tx.cta.copy(b, bias)
        Tx.cta.add(h, x, b)  # computed in float32, the type of h
        Tx.cta.gelu(h, h, fast=fast)
        Tx.cta.cast(x, h)
        Tx.cta.copy(Y[bx * rows : bx * rows + rows, :], x)

    return bias_gelu


kernel = build()
