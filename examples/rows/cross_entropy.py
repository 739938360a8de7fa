# Loss has log(sum(exp(x))) - x[label] of each row of X: how unlikely its label is. A row is read once,
# at the speed of memory, and stays in the registers of a block.
#
# Rows need not fill the tile: what lies behind their end is -inf.
#
#   warpwright run examples/rows/cross_entropy.py --arg Label=zeros --expect 'Loss ~= log(sum(exp(X), 1)) - X[:, 0]'
#   warpwright run examples/rows/cross_entropy.py --kernel 'build(n=999)' --arg Label=full:998 --expect 'Loss ~= log(sum(exp(X), 1)) - X[:, 998]'
#   warpwright explain examples/rows/cross_entropy.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, reduced_layout, tx


LOG2E = math.log2(math.e)


def build(m=16, n=1024, dtype="bfloat16", lanes=None, rows=None):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
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
    def cross_entropy(X_ptr: T.handle, Label_ptr: T.handle, Loss_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Label = T.match_buffer(Label_ptr, (m,), "int32")
        Loss = T.match_buffer(Loss_ptr, (m,), "float32")
        T.device_entry()
        row: T.let = T.cta_id([(m + rows - 1) // rows]) * rows
        thread = T.thread_id([rows * lanes])
        x = T.alloc_buffer((rows, width), dtype, scope="local", layout=tile)
        e = T.alloc_buffer((rows, width), "float32", scope="local", layout=tile)
        most = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        shift = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        total = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        Tx.cta.copy(x, X[row : row + rows, 0:width], fill_value=float("-inf"))
        Tx.cta.cast(e, x)
        Tx.cta.max(most, e)
        Tx.cta.mul(shift, most, -LOG2E)
        Tx.cta.fma(e, e, LOG2E, shift)
        Tx.cta.exp2(e, e, fast=True)
        Tx.cta.sum(total, e)
        Tx.cta.log(total, total)
        Tx.cta.add(total, total, most)
        own: T.let = row + thread // lanes
        if thread % lanes == 0 and own < m:
            Loss[own] = total.local(1)[0] - T.cast(X[own, Label[own]], "float32")

    return cross_entropy


kernel = build()
