# Y = gelu(X + B) with B added to each row, at the speed of memory: a block takes a tile of `rows` rows
# by 16 bytes for each of its threads. The approximation of erf is the fast one, whose error
# `explain` gives; approximate="tanh" takes the other common formula.
#
# Rows need not fill the tiles.
#
#   warpwright run examples/rows/bias_gelu_tuned.py --expect 'Y ~= (X + B) / 2 * (1 + erf((X + B) / sqrt(2)))'
#   warpwright run examples/rows/bias_gelu_tuned.py --kernel 'build(n=999, dtype="float32")' --expect 'Y ~= (X + B) / 2 * (1 + erf((X + B) / sqrt(2)))'
#   warpwright explain examples/rows/bias_gelu_tuned.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, reduced_layout, tx


def build(m=16, n=1024, dtype="bfloat16", approximate="none", threads=128, rows=1):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    vec = 4 if dtype == "float32" else 8
    width = threads * vec
    across = (n + width - 1) // width  # tiles of a row
    tile = TileLayout(S[(rows, threads, vec) : (vec, 1 @ tx, 1)])
    of_column = reduced_layout(tile, (rows, width), 0)

    @T.prim_func
    def bias_gelu(X_ptr: T.handle, B_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        B = T.match_buffer(B_ptr, (n,), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        T.device_entry()
        cta = T.cta_id([(m + rows - 1) // rows * across])
        T.thread_id([threads])
        row: T.let = cta // across * rows
        column: T.let = cta % across * width
        x_in = T.alloc_buffer((rows, width), dtype, scope="local", layout=tile)
        x = T.alloc_buffer((rows, width), "float32", scope="local", layout=tile)
        b_in = T.alloc_buffer((width,), dtype, scope="local", layout=of_column)
        b = T.alloc_buffer((width,), "float32", scope="local", layout=of_column)
        Tx.cta.copy(x_in, X[row : row + rows, column : column + width], fill_value=0)
        Tx.cta.copy(b_in, B[column : column + width], fill_value=0)
        Tx.cta.cast(x, x_in)
        Tx.cta.cast(b, b_in)
        Tx.cta.add(x, x, b)
        if approximate == "tanh":
            Tx.cta.gelu_tanh(x, x, fast=True)
        else:
            Tx.cta.gelu(x, x, fast=True)
        Tx.cta.cast(x_in, x)
        Tx.cta.copy(Y[row : row + rows, column : column + width], x_in, clip=True)

    return bias_gelu


kernel = build()
