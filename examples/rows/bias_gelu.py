# Y = gelu(X + B) with B added to each row. A block takes `rows` rows of 16 bytes for each of its threads.
# The approximation of erf is the fast one, whose error `explain` prints; approximate="tanh" takes the
# other common formula. The compiler infers the layouts: the copy of X decides, and B is in every thread
# that has an element of its column.
#
# Rows of any length, and any number of them: the tiles are filled up with zeros, which are not written.
#
#   warpwright run examples/rows/bias_gelu.py --expect 'Y ~= (X + B) / 2 * (1 + erf((X + B) / sqrt(2)))'
#   warpwright run examples/rows/bias_gelu.py --kernel 'build(n=999, dtype="float32")' --expect 'Y ~= (X + B) / 2 * (1 + erf((X + B) / sqrt(2)))'
#   warpwright explain examples/rows/bias_gelu.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=16, n=1024, dtype="bfloat16", approximate="none", threads=128, rows=1):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    width = threads * (4 if dtype == "float32" else 8)
    across = (n + width - 1) // width  # tiles of a row

    @T.prim_func
    def bias_gelu(X: T.Buffer((m, n), dtype), B: T.Buffer((n,), dtype), Y: T.Buffer((m, n), dtype)):
        T.device_entry()
        cta = T.cta_id([(m + rows - 1) // rows * across])
        T.thread_id([threads])
        row: T.let = cta // across * rows
        column: T.let = cta % across * width
        x = T.alloc_local((rows, width), dtype, layout="auto")
        h = T.alloc_local((rows, width), "float32", layout="auto")
        b = T.alloc_local((width,), dtype, layout="auto")
        Tx.cta.copy(x, X[row : row + rows, column : column + width], fill_value=0)
        Tx.cta.copy(b, B[column : column + width], fill_value=0)
        Tx.cta.add(h, x, b)  # computed in float32, the type of h
        if approximate == "tanh":
            Tx.cta.gelu_tanh(h, h, fast=True)
        else:
            Tx.cta.gelu(h, h, fast=True)
        Tx.cta.cast(x, h)
        Tx.cta.copy(Y[row : row + rows, column : column + width], x, clip=True)

    return bias_gelu


kernel = build()
