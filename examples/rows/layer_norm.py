# Y has each row of X less its mean, over its deviation, times W plus B, at the speed of memory: a row of X is read
# once, 16 bytes at a time, stays in the registers of a block, and is written once. W and B come from
# the L2 cache when they are needed, a part at a time: they would take registers that more blocks can use.
#
# Rows need not fill the tile: what lies behind their end counts as 0, and is not written.
#
#   warpwright run examples/rows/layer_norm.py --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright run examples/rows/layer_norm.py --kernel 'build(n=999, dtype="float32")' --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright explain examples/rows/layer_norm.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, reduced_layout, tx


def build(m=16, n=1024, dtype="bfloat16", eps=1e-5, lanes=None, rows=None, parts=None):
    size = 4 if dtype == "float32" else 2
    vec = 16 // size
    # Threads of a row: each has 32 bytes of it, and more in long rows.
    most_lanes = 256 if size == 2 and n > 8192 else 512
    lanes = lanes or min(most_lanes, max(32, 2 ** math.ceil(math.log2(n * size / 32))))
    rows = rows or max(1, 64 // lanes)  # of a block
    rounds = (n + lanes * vec - 1) // (lanes * vec)
    width = rounds * lanes * vec
    parts = parts or max(1, rounds // 2)
    while rounds % parts != 0:
        parts = parts - 1
    part = width // parts
    tile = TileLayout(S[(rows, rounds, lanes, vec) : (lanes @ tx, vec, 1 @ tx, 1)])
    of_row = reduced_layout(tile, (rows, width), 1)
    of_part = TileLayout(S[(rows, rounds // parts, lanes, vec) : (lanes @ tx, vec, 1 @ tx, 1)])
    of_column = reduced_layout(of_part, (rows, part), 0)

    @T.prim_func
    def layer_norm(X_ptr: T.handle, W_ptr: T.handle, B_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        W = T.match_buffer(W_ptr, (n,), dtype)
        B = T.match_buffer(B_ptr, (n,), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        T.device_entry()
        row: T.let = T.cta_id([(m + rows - 1) // rows]) * rows
        thread = T.thread_id([rows * lanes])
        x = T.alloc_buffer((rows, width), dtype, scope="local", layout=tile)
        d = T.alloc_buffer((rows, width), "float32", scope="local", layout=tile)
        square = T.alloc_buffer((rows, width), "float32", scope="local", layout=tile)
        mean = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        scale = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        w_in = T.alloc_buffer((part,), dtype, scope="local", layout=of_column)
        w = T.alloc_buffer((part,), "float32", scope="local", layout=of_column)
        b_in = T.alloc_buffer((part,), dtype, scope="local", layout=of_column)
        b = T.alloc_buffer((part,), "float32", scope="local", layout=of_column)
        y = T.alloc_buffer((rows, part), dtype, scope="local", layout=of_part)
        Tx.cta.copy(x, X[row : row + rows, 0:width], fill_value=0)
        Tx.cta.cast(d, x)
        Tx.cta.sum(mean, d)
        Tx.cta.mul(mean, mean, 1 / n)
        Tx.cta.sub(d, d, mean)
        if n < width:
            own = d.local(width // lanes)
            for i in T.unroll(width // lanes):
                if i // vec * lanes * vec + thread % lanes * vec + i % vec >= n:
                    own[i] = T.float32(0)
        Tx.cta.mul(square, d, d)
        Tx.cta.sum(scale, square)
        Tx.cta.fma(scale, scale, 1 / n, eps)
        Tx.cta.rsqrt(scale, scale)
        for k in T.unroll(parts):
            first = T.meta_var(k * part)
            now = T.meta_var(d[:, first : first + part])
            Tx.cta.copy(w_in, W[first : first + part], fill_value=0)
            Tx.cta.copy(b_in, B[first : first + part], fill_value=0)
            Tx.cta.cast(w, w_in)
            Tx.cta.cast(b, b_in)
            Tx.cta.mul(now, now, scale)
            Tx.cta.fma(now, now, w, b)
            Tx.cta.cast(y, now)
            Tx.cta.copy(Y[row : row + rows, first : first + part], y, clip=True)

    return layer_norm


kernel = build()
