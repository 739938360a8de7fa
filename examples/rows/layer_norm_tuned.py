# Y has each row of X normalised, times W plus B, at the speed of memory:
# a row of X is read once, 16 bytes at a time, and is written once. A short row stays in the registers of a
# block. A long row is shared by the blocks of a cluster, which hold it in shared memory and registers, and
# whose sums go through their shared memory. W and B come from the L2 cache, some parts ahead of their use; many
# very long rows are left to rows/layer_norm_staying.py, whose clusters keep W and B. An X larger than the L2 cache
# is read with the priority `evict_last`, so that Y leaves the cache first.
#
# On an H200 it takes 1 % less time than layer_norm.py for rows of 1024 float32 elements, 4 % for 4096 and 3 % for 16384 (X
# of 256 MiB, `scripts/row_forms.py layer_norm`): it keeps more of X in the L2 cache, loads W and B ahead of their use, and
# computes both sums in one reduction. It also takes rows that are too long for one block.
#
# Mean and deviation come from the sums of x - c and of its square, in one reduction. In short rows c is the
# mean itself; in long ones the mean of the first elements, near enough that the squares lose nothing, and no
# second reduction goes through the cluster.
# Rows need not fill the parts: what lies behind their end has no part in the sums, and is not written.
#
#   warpwright run examples/rows/layer_norm_tuned.py --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright run examples/rows/layer_norm_tuned.py --kernel 'build(n=999, dtype="float32")' --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright run examples/rows/layer_norm_tuned.py --kernel 'build(m=2, n=5000, cluster=2)' --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright explain examples/rows/layer_norm_tuned.py
import math

from layer_norm_staying import build as build_staying
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, cbx, reduced_layout, tx


def build(
    m=16, n=1024, dtype="bfloat16", eps=1e-5, lanes=None, rows=None, cluster=None, kept=None, ahead=None, hints=None
):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    size = 4 if dtype == "float32" else 2
    vec = 16 // size
    is_large = m * n * size >= 2**26
    hints = hints if hints is not None else {"l2_evict": "evict_last"} if is_large else {}
    # Clusters that stay: W, B and a row fit into the shared memory of 8 or 16 blocks. An H200 has room for 15 such
    # clusters or 7; with one less all end at the same time.
    most = 9 * 8192
    is_free = (lanes, rows, cluster, kept, ahead) == (None,) * 5  # to choose the shape
    if is_free and is_large and 2**19 <= n * size <= 16 * most:
        shape = {"cluster": 8, "clusters": 14} if n * size <= 8 * most else {"cluster": 16, "clusters": 6}
        return build_staying(m, n, dtype, eps, lanes=512, hints=hints, **shape)
    # Blocks of a row: one up to 64 KiB, else one for each 32 KiB, at most 8.
    cluster = cluster or (1 if n * size <= 65536 else min(8, 2 ** math.ceil(math.log2(n * size / 32768))))
    share = n * size / cluster  # bytes of a row in a block
    is_short = cluster == 1 and n * size <= 16384
    # Threads of a row in a block: each has 32 bytes of it, and more in long rows.
    most_lanes = 128 * size if cluster == 1 else 128 if share <= 32768 else 256
    lanes = lanes or min(most_lanes, max(32, 2 ** math.ceil(math.log2(share / 32))))
    rows = rows or (max(1, 64 // lanes) if cluster == 1 else 1)  # of a block
    assert cluster == 1 or rows == 1, "a cluster has one row"
    part = lanes * vec
    parts = (n + cluster * part - 1) // (cluster * part)  # of a row in a block
    # Parts in registers; the others are in shared memory. Two blocks of 128 KiB fit on an SM if a quarter is
    # in registers.
    kept = kept if kept is not None else parts if cluster == 1 else 0 if share <= 65536 else parts // 4
    # Parts of W and B that are on their way.
    if ahead is None:
        most = (3 if size == 4 else 0) if cluster == 1 else 3 if share <= 65536 else 4
        ahead = 1 if is_short else min(parts - 1, most)
    in_registers = TileLayout(S[(rows, max(1, kept), lanes, vec) : (lanes @ tx, vec, 1 @ tx, 1)])
    of_part = TileLayout(S[(rows, lanes, vec) : (lanes @ tx, 1 @ tx, 1)])
    of_head = TileLayout(S[(rows, 32, vec) : (lanes @ tx, 1 @ tx, 1)] + R[lanes // 32 : 32 @ tx])
    of_sums = TileLayout(S[(2, rows, lanes, vec) : (vec, lanes @ tx, 1 @ tx, 1)])
    # The same registers, as what the blocks of a cluster hold together.
    shared = TileLayout(S[(2, rows, cluster, lanes, vec) : (vec, lanes @ tx, 1 @ cbx, 1 @ tx, 1)])
    of_row = reduced_layout(of_part, (rows, part), 1) if cluster == 1 else None
    of_moments = reduced_layout(of_sums, (2, rows, part), 2) if cluster == 1 else None
    of_column = reduced_layout(of_part, (rows, part), 0)
    of_ring = TileLayout(S[(ahead + 1, lanes, vec) : (vec, 1 @ tx, 1)] + R[rows : lanes @ tx])
    is_ragged = n % (cluster * parts * part) != 0
    edges = {"fill_value": 0} if is_ragged else {"cache": "nc"}
    hints = {} if is_ragged or m % rows else hints

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
        unit = Tx.cluster if cluster > 1 else Tx.cta
        x = T.alloc_buffer((rows, max(1, kept) * part), dtype, scope="local", layout=in_registers)
        if kept < parts:
            x_rest = T.alloc_buffer((rows, (parts - kept) * part), dtype, scope="shared.dyn")
        x_in = T.alloc_buffer((rows, part), dtype, scope="local", layout=of_part)
        f = T.alloc_buffer((rows, part), "float32", scope="local", layout=of_part)
        y = T.alloc_buffer((rows, part), dtype, scope="local", layout=of_part)
        head_in = T.alloc_buffer((rows, 32 * vec), dtype, scope="local", layout=of_head)
        head = T.alloc_buffer((rows, 32 * vec), "float32", scope="local", layout=of_head)
        c = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        sums = T.alloc_buffer((2, rows, part), "float32", scope="local", layout=of_sums)
        all_sums = sums.view(2, rows, cluster * part, layout=shared) if cluster > 1 else sums
        moments = T.alloc_buffer((2, rows, 1), "float32", scope="local", layout=of_moments)
        mean = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        scale = T.alloc_buffer((rows, 1), "float32", scope="local", layout=of_row)
        w_in = T.alloc_buffer((ahead + 1, part), dtype, scope="local", layout=of_ring)
        w = T.alloc_buffer((part,), "float32", scope="local", layout=of_column)
        b_in = T.alloc_buffer((ahead + 1, part), dtype, scope="local", layout=of_ring)
        b = T.alloc_buffer((part,), "float32", scope="local", layout=of_column)

        @T.inline
        def fetch(k):  # part k of W and B
            first = T.meta_var(start + k * part)
            Tx.cta.copy(w_in[k % (ahead + 1), :], W[first : first + part], **edges)
            Tx.cta.copy(b_in[k % (ahead + 1), :], B[first : first + part], **edges)

        @T.inline
        def take(k):  # part k of X, as float32
            if kept == parts or k < kept:
                Tx.cta.cast(f, x[:, k * part : k * part + part])
            if kept < parts and k >= kept:
                Tx.cta.copy(x_in, x_rest[:, (k - kept) * part : (k - kept) * part + part])
                Tx.cta.cast(f, x_in)

        if kept > 0:
            Tx.cta.copy(x, X[row : row + rows, start : start + kept * part], fill_value=0, **hints)
        if kept < parts:
            for k in T.unroll(parts - kept):
                first = T.meta_var(start + (kept + k) * part)
                x_part = T.meta_var(X[row : row + rows, first : first + part])
                Tx.cta.copy_async(x_rest[:, k * part : k * part + part], x_part, fill_value=0, **hints)
            T.ptx.cp_async.commit_group()

        Tx.cta.zero(sums)
        if is_short:
            for k in T.unroll(parts):
                take(k)
                Tx.cta.add(sums[0, :, :], sums[0, :, :], f)
            Tx.cta.sum(c, sums[0, :, :])
            Tx.cta.mul(c, c, 1 / n)
            Tx.cta.zero(sums[0, :, :])
        else:
            Tx.cta.copy(head_in, X[row : row + rows, 0 : 32 * vec], fill_value=0)
            Tx.cta.cast(head, head_in)
            Tx.cta.sum(c, head)
            Tx.cta.mul(c, c, 1 / min(n, 32 * vec))
        for k in T.unroll(parts):
            if k == kept:
                T.ptx.cp_async.wait_group(0)
                T.cuda.cta_sync()
            take(k)
            Tx.cta.sub(f, f, c)
            if is_ragged:
                for i in T.unroll(vec):
                    if start + k * part + thread % lanes * vec + i >= n:
                        f.local(vec)[i] = T.float32(0)
            Tx.cta.add(sums[0, :, :], sums[0, :, :], f)
            Tx.cta.fma(sums[1, :, :], f, f, sums[1, :, :])
        for k in T.unroll(ahead):
            fetch(k)
        unit.sum(moments, all_sums)
        Tx.cta.mul(moments, moments, 1 / n)
        Tx.cta.mul(scale, moments[0, :, :], moments[0, :, :])
        Tx.cta.sub(scale, moments[1, :, :], scale)
        Tx.cta.maximum(scale, scale, 0)
        Tx.cta.add(scale, scale, eps)
        Tx.cta.rsqrt(scale, scale)
        Tx.cta.add(mean, moments[0, :, :], c)

        for k in T.unroll(parts):
            first = T.meta_var(start + k * part)
            if k + ahead < parts:
                fetch(k + ahead)
            take(k)
            Tx.cta.cast(w, w_in[k % (ahead + 1), :])
            Tx.cta.cast(b, b_in[k % (ahead + 1), :])
            Tx.cta.sub(f, f, mean)
            Tx.cta.mul(f, f, scale)
            Tx.cta.fma(f, f, w, b)
            Tx.cta.cast(y, f)
            Tx.cta.copy(Y[row : row + rows, first : first + part], y, clip=True)

    return layer_norm


kernel = build()
