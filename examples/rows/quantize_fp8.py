# Q has X in float8_e4m3fn, with a Scale for each row: the greatest element of a row becomes 448, the greatest
# number of the type, and X is nearly Q * Scale. A block reads a row once and keeps it in registers. The
# compiler infers the layouts.
#
# Rows of any length: the tile is filled up with zeros, which are not written.
#
#   warpwright run examples/rows/quantize_fp8.py --expect 'Scale ~= max(abs(X), axis=1, keepdims=True) / 448' --expect 'float32(Q) * Scale ~= X within rtol=0.07, atol=0.01'
#   warpwright explain examples/rows/quantize_fp8.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=16, n=1024, dtype="bfloat16", threads=None):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    vec = 4 if dtype == "float32" else 8  # elements in 16 bytes
    most_threads = 256 if vec == 8 and n > 8192 else 512
    threads = threads or min(most_threads, max(32, (n // (2 * vec) + 31) // 32 * 32))
    width = (n + threads * vec - 1) // (threads * vec) * (threads * vec)

    @T.prim_func
    def quantize(X: T.Buffer((m, n), dtype), Q: T.Buffer((m, n), "float8_e4m3fn"),
                 Scale: T.Buffer((m, 1), "float32")):
        T.device_entry()
        row = T.cta_id([m])
        T.thread_id([threads])
        x = T.alloc_local((width,), dtype, layout="auto")
        f = T.alloc_local((width,), "float32", layout="auto")
        size_of = T.alloc_local((width,), "float32", layout="auto")
        q = T.alloc_local((width,), "float8_e4m3fn", layout="auto")
        most = T.alloc_local((1,), "float32", layout="auto")
        scale = T.alloc_local((1,), "float32", layout="auto")
        Tx.cta.copy(x, X[row, 0:width], fill_value=0)
        Tx.cta.cast(f, x)
        Tx.cta.abs(size_of, f)
        Tx.cta.max(most, size_of)
        # A row of zeros has a scale too, so that nothing is divided by 0.
        Tx.cta.maximum(most, most, 1e-30)
        Tx.cta.mul(scale, most, 1 / 448)
        Tx.cta.copy(Scale[row, :], scale)
        Tx.cta.fdiv(scale, 448.0, most)
        Tx.cta.mul(f, f, scale)
        Tx.cta.cast(q, f, saturate=True)
        Tx.cta.copy(Q[row, 0:width], q, clip=True)

    return quantize


kernel = build()
