# Y = gelu(X + bias), as in ../bias_gelu.py, with layouts that the compiler infers: the copy of X decides,
# and the bias is in every thread that has an element of its column.
#
#   warpwright run examples/short/bias_gelu.py --expect 'Y ~= (X + bias) / 2 * (1 + erf((X + bias) / sqrt(2)))'
#   warpwright explain examples/short/bias_gelu.py --kernel 'build(fast=True)'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=64, n=256, rows=8, fast=False):
    @T.prim_func
    def bias_gelu(X: T.Buffer((m, n), "bfloat16"), bias: T.Buffer((n,), "bfloat16"),
                  Y: T.Buffer((m, n), "bfloat16")):
        T.device_entry()
        bx = T.cta_id([m // rows])
        T.thread_id([128])
        x = T.alloc_local((rows, n), "bfloat16", layout="auto")
        h = T.alloc_local((rows, n), "float32", layout="auto")
        b = T.alloc_local((n,), "bfloat16", layout="auto")
        Tx.cta.copy(x, X[bx * rows : bx * rows + rows, :])
        Tx.cta.copy(b, bias)
        Tx.cta.add(h, x, b)  # computed in float32, the type of h
        Tx.cta.gelu(h, h, fast=fast)
        Tx.cta.cast(x, h)
        Tx.cta.copy(Y[bx * rows : bx * rows + rows, :], x)

    return bias_gelu


kernel = build()
