# Rotary embedding: Y has the vectors of X, `dim` long, turned by angles that grow with their position:
# element j and element j + dim/2 are the coordinates of a point, which Cos and Sin turn by an angle of
# their own for each position and each j < dim/2. Rows are positions, and in each position heads, which
# share the angles.
#
#   warpwright run examples/rows/rope_tuned.py --arg Cos=zeros --arg Sin=ones --expect 'Y[:, :64] == 0 - X[:, 64:]' --expect 'Y[:, 64:] == X[:, :64]'
#   warpwright explain examples/rows/rope_tuned.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


def build(positions=32, heads=8, dim=128, dtype="bfloat16", threads=128):
    vec = 4 if dtype == "float32" else 8
    assert 0 < positions * heads <= 2**30, "1 to 2**30 vectors"
    assert dim > 0 and dim % (2 * vec) == 0, "halves of vectors are loaded 16 bytes at a time"
    half = dim // 2
    lanes = half // vec  # of a vector
    rows = threads // lanes  # vectors of a block
    blocks = (positions * heads + rows - 1) // rows
    tile = TileLayout(S[(rows, lanes, vec) : (lanes @ tx, 1 @ tx, 1)])

    @T.prim_func
    def rope(X_ptr: T.handle, Cos_ptr: T.handle, Sin_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (positions * heads, dim), dtype)
        Cos = T.match_buffer(Cos_ptr, (positions, half), "float32")
        Sin = T.match_buffer(Sin_ptr, (positions, half), "float32")
        Y = T.match_buffer(Y_ptr, (positions * heads, dim), dtype)
        T.device_entry()
        bx = T.cta_id([blocks])
        thread = T.thread_id([threads])
        first = T.meta_var(bx * rows)
        a_in = T.alloc_buffer((rows, half), dtype, scope="local", layout=tile)
        b_in = T.alloc_buffer((rows, half), dtype, scope="local", layout=tile)
        a = T.alloc_buffer((rows, half), "float32", scope="local", layout=tile)
        b = T.alloc_buffer((rows, half), "float32", scope="local", layout=tile)
        cos = T.alloc_buffer((rows, half), "float32", scope="local", layout=tile)
        sin = T.alloc_buffer((rows, half), "float32", scope="local", layout=tile)
        new = T.alloc_buffer((rows, half), "float32", scope="local", layout=tile)
        Tx.cta.copy(a_in, X[first : first + rows, 0:half], fill_value=0)
        Tx.cta.copy(b_in, X[first : first + rows, half:dim], fill_value=0)
        at: T.let = T.min((first + thread // lanes) // heads, positions - 1)
        column: T.let = thread % lanes * vec
        for i in T.vectorized(vec):
            cos.local(vec)[i] = Cos[at, column + i]
        for i in T.vectorized(vec):
            sin.local(vec)[i] = Sin[at, column + i]
        Tx.cta.cast(a, a_in)
        Tx.cta.cast(b, b_in)
        Tx.cta.mul(new, b, sin)
        Tx.cta.neg(new, new)
        Tx.cta.fma(new, a, cos, new)
        Tx.cta.cast(a_in, new)
        Tx.cta.mul(new, b, cos)
        Tx.cta.fma(new, a, sin, new)
        Tx.cta.cast(b_in, new)
        Tx.cta.copy(Y[first : first + rows, 0:half], a_in, clip=True)
        Tx.cta.copy(Y[first : first + rows, half:dim], b_in, clip=True)

    return rope


kernel = build()
