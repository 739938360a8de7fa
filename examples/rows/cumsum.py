# Y has the running sums of the rows of X, summed in float32. A block reads a row once, 16 bytes per thread
# at a time, and writes it once. The compiler infers the layouts: the scan follows the copy.
#
# Rows of any length: the tile is filled up with zeros, which are not written.
#
#   warpwright run examples/rows/cumsum.py --kernel 'build(dtype="float32")' --expect 'Y[:, 0] == X[:, 0]' --expect 'Y[:, 1023] ~= sum(X, 1)'
#   warpwright run examples/rows/cumsum.py --kernel 'build(n=999)' --arg X=ones --expect 'Y[:, 99] == 100'
#   warpwright explain examples/rows/cumsum.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=16, n=1024, dtype="bfloat16", threads=None):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    vec = 4 if dtype == "float32" else 8  # elements in 16 bytes
    most_threads = 256 if vec == 8 and n > 8192 else 512
    threads = threads or min(most_threads, max(32, (n // (2 * vec) + 31) // 32 * 32))
    width = (n + threads * vec - 1) // (threads * vec) * (threads * vec)

    @T.prim_func
    def cumsum(X: T.Buffer((m, n), dtype), Y: T.Buffer((m, n), dtype)):
        T.device_entry()
        row = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_local((width,), dtype, layout="auto")
        f = T.alloc_local((width,), "float32", layout="auto")
        Tx.cta.copy(x, X[row, 0:width], fill_value=0)
        Tx.cta.cast(f, x)
        Tx.cta.cumsum(f, f)
        Tx.cta.cast(x, f)
        Tx.cta.copy(Y[row, 0:width], x, clip=True)

    return cumsum


kernel = build()
