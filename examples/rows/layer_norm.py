# Y has each row of X less its mean, over its deviation, times W plus B, at the speed of memory:
# a row of X is read once, 16 bytes at a time, stays as it is in the registers of a block, and is written
# once. Rows that no block can hold are shared by the blocks of a cluster, whose reductions go through
# their shared memory. W and B come from the L2 cache where they are used.
#
# Rows need not fill the parts: what lies behind their end has no part in the sums, and is not written.
#
#   warpwright run examples/rows/layer_norm.py --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright run examples/rows/layer_norm.py --kernel 'build(n=999, dtype="float32")' --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright run examples/rows/layer_norm.py --kernel 'build(m=2, n=5000, cluster=2)' --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright explain examples/rows/layer_norm.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, cbx, reduced_layout, tx


def build(m=16, n=1024, dtype="bfloat16", eps=1e-5, lanes=None, rows=None, cluster=None):
    assert m > 0 and n > 0, "rows without elements"
    size = 4 if dtype == "float32" else 2
    vec = 16 // size
    # A block holds up to 64 KiB of a row; where 8 blocks are not enough, more.
    cluster = cluster or min(8, max(1, 2 ** math.ceil(math.log2(n * size / 65536))))
    # Threads of a row in a block: each has 32 bytes of it, and more in long rows.
    most_lanes = 256 if size == 2 and n == 16384 else 512
    lanes = lanes or min(most_lanes, max(32, 2 ** math.ceil(math.log2(n * size / cluster / 32))))
    rows = rows or max(1, 64 // lanes)  # of a block
    pair = 2 if n * size > cluster * lanes * 64 else 1  # loads of a thread in a part
    part = pair * lanes * vec
    parts = (n + cluster * part - 1) // (cluster * part)  # of a row in a block
    tile = TileLayout(S[(rows, parts * pair, lanes, vec) : (lanes @ tx, vec, 1 @ tx, 1)])
    of_part = TileLayout(S[(rows, pair, lanes, vec) : (lanes @ tx, vec, 1 @ tx, 1)])
    # The same registers, as what the blocks of a cluster hold together.
    shared = TileLayout(S[(rows, cluster, pair, lanes, vec) : (lanes @ tx, 1 @ cbx, vec, 1 @ tx, 1)])
    of_row = reduced_layout(of_part, (rows, part), 1) if cluster == 1 else None
    of_column = reduced_layout(of_part, (rows, part), 0)

    @T.prim_func
    def layer_norm(X_ptr: T.handle, W_ptr: T.handle, B_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        W = T.match_buffer(W_ptr, (n,), dtype)
        B = T.match_buffer(B_ptr, (n,), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        T.device_entry()
        if cluster == 1:
            row: T.let = T.cta_id([(m + rows - 1) // rows]) * rows
            start = T.meta_var(0)
        else:
            row: T.let = T.cluster_id([m])
            start = T.meta_var(T.cta_id_in_cluster([cluster]) * parts * part)
        thread = T.thread_id([rows * lanes])
        x = T.alloc_buffer((rows, parts * part), dtype, scope="local", layout=tile)
        f = T.alloc_buffer((rows, part), "float32", scope="local", layout=of_part)
        y = T.alloc_buffer((rows, part), dtype, scope="local", layout=of_part)
        each = T.alloc_buffer((rows, part), "float32", scope="local", layout=of_part)
        all_of_row = each.view(rows, cluster * part, layout=shared) if cluster > 1 else each
        unit = Tx.cluster if cluster > 1 else Tx.cta
        mean = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        scale = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        w_in = T.alloc_buffer((part,), dtype, scope="local", layout=of_column)
        w = T.alloc_buffer((part,), "float32", scope="local", layout=of_column)
        b_in = T.alloc_buffer((part,), dtype, scope="local", layout=of_column)
        b = T.alloc_buffer((part,), "float32", scope="local", layout=of_column)
        Tx.cta.copy(x, X[row : row + rows, start : start + parts * part], fill_value=0)

        Tx.cta.zero(each)
        for k in T.unroll(parts):
            Tx.cta.cast(f, x[:, k * part : k * part + part])
            Tx.cta.add(each, each, f)
        unit.sum(mean, all_of_row)
        Tx.cta.mul(mean, mean, 1 / n)

        Tx.cta.zero(each)
        for k in T.unroll(parts):
            Tx.cta.cast(f, x[:, k * part : k * part + part])
            Tx.cta.sub(f, f, mean)
            if n % (cluster * parts * part) != 0:
                for i in T.unroll(pair * vec):
                    if start + k * part + (i // vec * lanes + thread % lanes) * vec + i % vec >= n:
                        f.local(pair * vec)[i] = T.float32(0)
            Tx.cta.fma(each, f, f, each)
        unit.sum(scale, all_of_row)
        Tx.cta.fma(scale, scale, 1 / n, eps)
        Tx.cta.rsqrt(scale, scale)

        for k in T.unroll(parts):
            first = T.meta_var(start + k * part)
            Tx.cta.copy(w_in, W[first : first + part], fill_value=0)
            Tx.cta.copy(b_in, B[first : first + part], fill_value=0)
            Tx.cta.cast(f, x[:, k * part : k * part + part])
            Tx.cta.cast(w, w_in)
            Tx.cta.cast(b, b_in)
            Tx.cta.sub(f, f, mean)
            Tx.cta.mul(f, f, scale)
            Tx.cta.fma(f, f, w, b)
            Tx.cta.cast(y, f)
            Tx.cta.copy(Y[row : row + rows, first : first + part], y, clip=True)

    return layer_norm


kernel = build()
