# Q has X in float8_e4m3fn, each row divided by its Scale, so that the greatest element of a row becomes
# 448, the greatest number of the type: X is nearly Q * Scale. A row of X is read once, at the speed of
# memory, and stays in the registers of a block.
#
#   warpwright run examples/rows/quantize_fp8.py --expect 'Scale ~= max(abs(X), axis=1, keepdims=True) / 448' --expect 'float32(Q) * Scale ~= X within rtol=0.07, atol=0.01'
#   warpwright explain examples/rows/quantize_fp8.py
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
    def quantize(X_ptr: T.handle, Q_ptr: T.handle, Scale_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Q = T.match_buffer(Q_ptr, (m, n), "float8_e4m3fn")
        Scale = T.match_buffer(Scale_ptr, (m, 1), "float32")
        T.device_entry()
        row: T.let = T.cta_id([(m + rows - 1) // rows]) * rows
        T.thread_id([rows * lanes])
        x = T.alloc_buffer((rows, width), dtype, scope="local", layout=tile)
        f = T.alloc_buffer((rows, width), "float32", scope="local", layout=tile)
        size_of = T.alloc_buffer((rows, width), "float32", scope="local", layout=tile)
        q = T.alloc_buffer((rows, width), "float8_e4m3fn", scope="local", layout=tile)
        most = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        scale = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        Tx.cta.copy(x, X[row : row + rows, 0:width], fill_value=0)
        Tx.cta.cast(f, x)
        Tx.cta.abs(size_of, f)
        Tx.cta.max(most, size_of)
        # A row of zeros has a scale too, so that nothing is divided by 0.
        Tx.cta.maximum(most, most, 1e-30)
        Tx.cta.mul(scale, most, 1 / 448)
        Tx.cta.copy(Scale[row : row + rows, :], scale, clip=True)
        Tx.cta.fdiv(scale, 448.0, most)
        Tx.cta.mul(f, f, scale)
        Tx.cta.cast(q, f, saturate=True)
        Tx.cta.copy(Q[row : row + rows, 0:width], q, clip=True)

    return quantize


kernel = build()
