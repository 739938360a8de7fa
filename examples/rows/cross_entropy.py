# Loss has log(sum(exp(x))) - x[label] of each row of X: how unlikely its label is. A block reads a row once
# and keeps it in registers. The compiler infers the layouts: the copy decides how the row lies in the
# threads, and the reductions decide where their results are.
#
# Rows of any length: the tile is filled up with -inf.
#
#   warpwright run examples/rows/cross_entropy.py --arg Label=zeros --expect 'Loss ~= log(sum(exp(X), 1)) - X[:, 0]'
#   warpwright run examples/rows/cross_entropy.py --kernel 'build(n=999)' --arg Label=full:998 --expect 'Loss ~= log(sum(exp(X), 1)) - X[:, 998]'
#   warpwright explain examples/rows/cross_entropy.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

LOG2E = math.log2(math.e)


def build(m=16, n=1024, dtype="bfloat16", threads=None):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    vec = 4 if dtype == "float32" else 8  # elements in 16 bytes
    most_threads = 256 if vec == 8 and n > 8192 else 512
    threads = threads or min(most_threads, max(32, (n // (2 * vec) + 31) // 32 * 32))
    width = (n + threads * vec - 1) // (threads * vec) * (threads * vec)

    @T.prim_func
    def cross_entropy(X: T.Buffer((m, n), dtype), Label: T.Buffer((m,), "int32"),
                      Loss: T.Buffer((m,), "float32")):
        T.device_entry()
        row = T.cta_id([m])
        thread = T.thread_id([threads])
        x = T.alloc_local((width,), dtype, layout="auto")
        e = T.alloc_local((width,), "float32", layout="auto")
        most = T.alloc_local((1,), "float32", layout="auto")
        shift = T.alloc_local((1,), "float32", layout="auto")
        total = T.alloc_local((1,), "float32", layout="auto")
        Tx.cta.copy(x, X[row, 0:width], fill_value=float("-inf"))
        Tx.cta.cast(e, x)
        Tx.cta.max(most, e)
        Tx.cta.mul(shift, most, -LOG2E)
        Tx.cta.fma(e, e, LOG2E, shift)
        Tx.cta.exp2(e, e, fast=True)
        Tx.cta.sum(total, e)
        Tx.cta.log(total, total)
        Tx.cta.add(total, total, most)
        if thread == 0:
            Loss[row] = total.local(1)[0] - T.cast(X[row, Label[row]], "float32")

    return cross_entropy


kernel = build()
