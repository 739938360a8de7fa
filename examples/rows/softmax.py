# Y has the softmax of each row of X, at the speed of memory: a row is read once, 16 bytes at a time,
# stays in the registers of a block, and is written once. Both reductions go over all threads of the
# row. exp(x - most) is one multiply-add and one ex2: exp2(x * log2(e) - most * log2(e)).
#
# Rows need not fill the tile: what lies behind their end is -inf, and is not written.
#
#   warpwright run examples/rows/softmax.py --expect 'Y ~= exp(X) / sum(exp(X), axis=1, keepdims=True)'
#   warpwright run examples/rows/softmax.py --kernel 'build(n=999, dtype="float32")' --expect 'Y ~= exp(X) / sum(exp(X), axis=1, keepdims=True)'
#   warpwright explain examples/rows/softmax.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, reduced_layout, tx

LOG2E = math.log2(math.e)


def build(m=16, n=1024, dtype="bfloat16", lanes=None, rows=None):
    size = 4 if dtype == "float32" else 2
    vec = 16 // size
    # Threads of a row: each has 32 bytes of it, and more in long rows.
    most_lanes = 256 if size == 2 and n > 8192 else 512
    lanes = lanes or min(most_lanes, max(32, 2 ** math.ceil(math.log2(n * size / 32))))
    rows = rows or max(1, 64 // lanes)  # of a block
    rounds = (n + lanes * vec - 1) // (lanes * vec)
    width = rounds * lanes * vec
    tile = TileLayout(S[(rows, rounds, lanes, vec) : (lanes @ tx, vec, 1 @ tx, 1)])
    of_row = reduced_layout(tile, (rows, width), 1)

    @T.prim_func
    def softmax(X_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        T.device_entry()
        row: T.let = T.cta_id([(m + rows - 1) // rows]) * rows
        T.thread_id([rows * lanes])
        x = T.alloc_buffer((rows, width), dtype, scope="local", layout=tile)
        e = T.alloc_buffer((rows, width), "float32", scope="local", layout=tile)
        most = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        total = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        Tx.cta.copy(x, X[row : row + rows, 0:width], fill_value=float("-inf"))
        Tx.cta.cast(e, x)
        Tx.cta.max(most, e)
        Tx.cta.mul(most, most, -LOG2E)
        Tx.cta.fma(e, e, LOG2E, most)
        Tx.cta.exp2(e, e, fast=True)
        Tx.cta.sum(total, e)
        Tx.cta.reciprocal(total, total)
        Tx.cta.mul(e, e, total)
        Tx.cta.cast(x, e)
        Tx.cta.copy(Y[row : row + rows, 0:width], x, clip=True)

    return softmax


kernel = build()
