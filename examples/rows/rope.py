# Rotary embedding: Y has the vectors of X, `dim` long, turned by angles that grow with their position.
# Elements j and j + dim/2 are the coordinates of a point, which Cos and Sin turn by an angle for each
# position and each j < dim/2; the heads of a position share the angles. The compiler infers the layouts:
# the copies of X decide, and the angles are in the threads that turn by them.
#
#   warpwright run examples/rows/rope.py --arg Cos=zeros --arg Sin=ones --expect 'Y[:, :, :64] == 0 - X[:, :, 64:]' --expect 'Y[:, :, 64:] == X[:, :, :64]'
#   warpwright explain examples/rows/rope.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(positions=32, heads=8, dim=128, dtype="bfloat16", group=None):
    vec = 4 if dtype == "float32" else 8  # elements in 16 bytes
    assert 0 < positions * heads <= 2**30, "1 to 2**30 vectors"
    assert dim > 0 and dim % (2 * vec) == 0, "halves of vectors are loaded 16 bytes at a time"
    half = dim // 2
    group = group or min(heads, 16)  # heads of a block
    across = (heads + group - 1) // group
    vectors = T.Buffer((positions, heads, dim), dtype)
    angles = T.Buffer((positions, 1, half), "float32")

    @T.prim_func
    def rope(X: vectors, Cos: angles, Sin: angles, Y: vectors):
        T.device_entry()
        cta = T.cta_id([positions * across])
        T.thread_id([group * half // vec])
        at: T.let = cta // across
        first: T.let = cta % across * group
        a_in = T.alloc_local((group, half), dtype, layout="auto")
        b_in = T.alloc_local((group, half), dtype, layout="auto")
        a = T.alloc_local((group, half), "float32", layout="auto")
        b = T.alloc_local((group, half), "float32", layout="auto")
        new = T.alloc_local((group, half), "float32", layout="auto")
        cos = T.alloc_local((1, half), "float32", layout="auto")
        sin = T.alloc_local((1, half), "float32", layout="auto")
        Tx.cta.copy(a_in, X[at, first : first + group, 0:half], fill_value=0)
        Tx.cta.copy(b_in, X[at, first : first + group, half:dim], fill_value=0)
        Tx.cta.copy(cos, Cos[at, :, :])
        Tx.cta.copy(sin, Sin[at, :, :])
        Tx.cta.cast(a, a_in)
        Tx.cta.cast(b, b_in)
        Tx.cta.mul(new, b, sin)
        Tx.cta.neg(new, new)
        Tx.cta.fma(new, a, cos, new)
        Tx.cta.cast(a_in, new)
        Tx.cta.mul(new, b, cos)
        Tx.cta.fma(new, a, sin, new)
        Tx.cta.cast(b_in, new)
        Tx.cta.copy(Y[at, first : first + group, 0:half], a_in, clip=True)
        Tx.cta.copy(Y[at, first : first + group, half:dim], b_in, clip=True)

    return rope


kernel = build()
