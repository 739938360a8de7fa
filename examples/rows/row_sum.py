# Sum has the sum of each row of X in float32: each thread reads 16 bytes at a time, and the threads of a
# block add their sums up. The compiler infers the layouts: the copy decides how the row lies in the
# threads, and the reduction follows.
#
# Rows of any length: the tile is filled up with zeros.
#
#   warpwright run examples/rows/row_sum.py --expect 'Sum ~= sum(X, 1)'
#   warpwright run examples/rows/row_sum.py --kernel 'build(n=999, dtype="float32")' --expect 'Sum ~= sum(X, 1)'
#   warpwright explain examples/rows/row_sum.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=16, n=1024, dtype="bfloat16", threads=None):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    vec = 4 if dtype == "float32" else 8  # elements in 16 bytes
    most_threads = 256 if vec == 8 and n > 8192 else 512
    threads = threads or min(most_threads, max(32, (n // (2 * vec) + 31) // 32 * 32))
    width = (n + threads * vec - 1) // (threads * vec) * (threads * vec)

    @T.prim_func
    def row_sum(X: T.Buffer((m, n), dtype), Sum: T.Buffer((m,), "float32")):
        T.device_entry()
        row = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_local((width,), dtype, layout="auto")
        f = T.alloc_local((width,), "float32", layout="auto")
        total = T.alloc_local((1,), "float32", layout="auto")
        Tx.cta.copy(x, X[row, 0:width], fill_value=0)
        Tx.cta.cast(f, x)
        Tx.cta.sum(total, f)
        Tx.cta.copy(Sum[row : row + 1], total)

    return row_sum


kernel = build()
