# Sum has the sum of each row of X in float32, at the speed of memory: each thread reads 16 bytes at a
# time, and the threads of a row bring their sums together.
#
#   warpwright run examples/rows/row_sum.py --expect 'Sum ~= sum(X, 1)'
#   warpwright run examples/rows/row_sum.py --kernel 'build(n=999, dtype="float32")' --expect 'Sum ~= sum(X, 1)'
#   warpwright explain examples/rows/row_sum.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, reduced_layout, tx


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
    def row_sum(X_ptr: T.handle, Sum_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Sum = T.match_buffer(Sum_ptr, (m,), "float32")
        T.device_entry()
        row: T.let = T.cta_id([(m + rows - 1) // rows]) * rows
        T.thread_id([rows * lanes])
        x = T.alloc_buffer((rows, width), dtype, scope="local", layout=tile)
        f = T.alloc_buffer((rows, width), "float32", scope="local", layout=tile)
        total = T.alloc_buffer((rows,), "float32", scope="local", layout=of_row)
        Tx.cta.copy(x, X[row : row + rows, 0:width], fill_value=0)
        Tx.cta.cast(f, x)
        Tx.cta.sum(total, f)
        Tx.cta.copy(Sum[row : row + rows], total, clip=True)

    return row_sum


kernel = build()
