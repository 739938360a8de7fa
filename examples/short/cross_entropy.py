# Loss has log(sum(exp(x))) - x[label] of each row of X, as in ../rows/cross_entropy.py, with layouts that
# the compiler infers: the copy decides for the row, the reductions for what belongs to it.
#
#   warpwright run examples/short/cross_entropy.py --arg Label=zeros --expect 'Loss ~= log(sum(exp(X), 1)) - X[:, 0]'
#   warpwright explain examples/short/cross_entropy.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

LOG2E = math.log2(math.e)


def build(m=16, n=1024, threads=64, dtype="bfloat16"):
    @T.prim_func
    def cross_entropy(X: T.Buffer((m, n), dtype), Label: T.Buffer((m,), "int32"),
                      Loss: T.Buffer((m,), "float32")):
        T.device_entry()
        bx = T.cta_id([m])
        thread = T.thread_id([threads])
        x = T.alloc_local((n,), dtype, layout="auto")
        e = T.alloc_local((n,), "float32", layout="auto")
        most = T.alloc_local((1,), "float32", layout="auto")
        shift = T.alloc_local((1,), "float32", layout="auto")
        total = T.alloc_local((1,), "float32", layout="auto")
        Tx.cta.copy(x, X[bx, :])
        Tx.cta.cast(e, x)
        Tx.cta.max(most, e)
        Tx.cta.mul(shift, most, -LOG2E)
        Tx.cta.fma(e, e, LOG2E, shift)
        Tx.cta.exp2(e, e, fast=True)
        Tx.cta.sum(total, e)
        Tx.cta.log(total, total)
        Tx.cta.add(total, total, most)
        if thread == 0:
            Loss[bx] = total.local(1)[0] - T.cast(X[bx, Label[bx]], "float32")

    return cross_entropy


kernel = build()
