# Y has the running sums of the rows of X, summed in float32, at the speed of memory: a row is read once
# and written once. Each thread holds 16 bytes of it in each round, so the scan goes through the threads
# and then to the next round.
#
# Rows need not fill the tile.
#
#   warpwright run examples/rows/cumsum.py --kernel 'build(dtype="float32")' --expect 'Y[:, 0] == X[:, 0]' --expect 'Y[:, 1023] ~= sum(X, 1)'
#   warpwright run examples/rows/cumsum.py --kernel 'build(n=999)' --arg X=ones --expect 'Y[:, 99] == 100'
#   warpwright explain examples/rows/cumsum.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


def build(m=16, n=1024, dtype="bfloat16", lanes=None):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    size = 4 if dtype == "float32" else 2
    vec = 16 // size
    # Threads of a row: each has 32 bytes of it, and more in long rows.
    most_lanes = 256 if size == 2 and n > 8192 else 512
    lanes = lanes or min(most_lanes, max(32, 2 ** math.ceil(math.log2(n * size / 32))))
    rounds = (n + lanes * vec - 1) // (lanes * vec)
    width = rounds * lanes * vec
    tile = TileLayout(S[(rounds, lanes, vec) : (vec, 1 @ tx, 1)])

    @T.prim_func
    def cumsum(X_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        T.device_entry()
        row = T.cta_id([m])
        T.thread_id([lanes])
        x = T.alloc_buffer((width,), dtype, scope="local", layout=tile)
        f = T.alloc_buffer((width,), "float32", scope="local", layout=tile)
        Tx.cta.copy(x, X[row, 0:width], fill_value=0)
        Tx.cta.cast(f, x)
        Tx.cta.cumsum(f, f)
        Tx.cta.cast(x, f)
        Tx.cta.copy(Y[row, 0:width], x, clip=True)

    return cumsum


kernel = build()
