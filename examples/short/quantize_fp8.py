# Q has X in float8_e4m3fn, each row divided by its Scale, as in ../rows/quantize_fp8.py, with layouts
# that the compiler infers.
#
#   warpwright run examples/short/quantize_fp8.py --expect 'Scale ~= max(abs(X), axis=1, keepdims=True) / 448' --expect 'float32(Q) * Scale ~= X within rtol=0.07, atol=0.01'
#   warpwright explain examples/short/quantize_fp8.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=16, n=1024, threads=64, dtype="bfloat16"):
    @T.prim_func
    def quantize(X: T.Buffer((m, n), dtype), Q: T.Buffer((m, n), "float8_e4m3fn"),
                 Scale: T.Buffer((m, 1), "float32")):
        T.device_entry()
        bx = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_local((n,), dtype, layout="auto")
        f = T.alloc_local((n,), "float32", layout="auto")
        size_of = T.alloc_local((n,), "float32", layout="auto")
        q = T.alloc_local((n,), "float8_e4m3fn", layout="auto")
        most = T.alloc_local((1,), "float32", layout="auto")
        scale = T.alloc_local((1,), "float32", layout="auto")
        Tx.cta.copy(x, X[bx, :])
        Tx.cta.cast(f, x)
        Tx.cta.abs(size_of, f)
        Tx.cta.max(most, size_of)
        # A row of zeros has a scale too, so that nothing is divided by 0.
        Tx.cta.maximum(most, most, 1e-30)
        Tx.cta.mul(scale, most, 1 / 448)
        Tx.cta.copy(Scale[bx, :], scale)
        Tx.cta.fdiv(scale, 448.0, most)
        Tx.cta.mul(f, f, scale)
        Tx.cta.cast(q, f, saturate=True)
        Tx.cta.copy(Q[bx, :], q)

    return quantize


kernel = build()
