# Rotary embedding, as in ../rows/rope.py, with layouts that the compiler infers: the copies of X decide,
# and the angles, which all heads of a position share, are in the threads that turn by them.
#
#   warpwright run examples/short/rope.py --arg Cos=zeros --arg Sin=ones --expect 'Y[:, :, :64] == 0 - X[:, :, 64:]' --expect 'Y[:, :, 64:] == X[:, :, :64]'
#   warpwright explain examples/short/rope.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(positions=32, heads=8, dim=128, dtype="bfloat16", rows=2):
    half = dim // 2
    vectors = T.Buffer((positions, heads, dim), dtype)
    angles = T.Buffer((positions, 1, half), "float32")

    @T.prim_func
    def rope(X: vectors, Cos: angles, Sin: angles, Y: vectors):
        T.device_entry()
        first = T.cta_id([positions // rows]) * rows
        T.thread_id([rows * heads * half // 8])
        a_in = T.alloc_local((rows, heads, half), dtype, layout="auto")
        b_in = T.alloc_local((rows, heads, half), dtype, layout="auto")
        a = T.alloc_local((rows, heads, half), "float32", layout="auto")
        b = T.alloc_local((rows, heads, half), "float32", layout="auto")
        new = T.alloc_local((rows, heads, half), "float32", layout="auto")
        cos = T.alloc_local((rows, 1, half), "float32", layout="auto")
        sin = T.alloc_local((rows, 1, half), "float32", layout="auto")
        Tx.cta.copy(a_in, X[first : first + rows, :, 0:half])
        Tx.cta.copy(b_in, X[first : first + rows, :, half:dim])
        Tx.cta.copy(cos, Cos[first : first + rows, :, :])
        Tx.cta.copy(sin, Sin[first : first + rows, :, :])
        Tx.cta.cast(a, a_in)
        Tx.cta.cast(b, b_in)
        Tx.cta.mul(new, b, sin)
        Tx.cta.neg(new, new)
        Tx.cta.fma(new, a, cos, new)
        Tx.cta.cast(a_in, new)
        Tx.cta.mul(new, b, cos)
        Tx.cta.fma(new, a, sin, new)
        Tx.cta.cast(b_in, new)
        Tx.cta.copy(Y[first : first + rows, :, 0:half], a_in)
        Tx.cta.copy(Y[first : first + rows, :, half:dim], b_in)

    return rope


kernel = build()
