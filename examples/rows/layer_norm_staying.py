# Layer norm of many very long rows: clusters that stay on the GPU keep W and B in shared memory and take one
# row after the other. A block holds its part of the row in registers, while the next row is on its way into
# shared memory. So each cluster reads W and B once, where rows/layer_norm.py reads them for every row.
#
# Mean and deviation come from the sums of x - c and of its square, in one reduction, where c is the mean of the
# first elements. Rows need not fill the parts: what lies behind their end has no part in the sums, and is not
# written.
#
# More clusters than fit on the GPU at once cost a third of the speed. rows/layer_norm.py chooses their number and
# size for rows of 512 KiB and more, which fill the shared memory of an SM.
#
#   warpwright run examples/rows/layer_norm_staying.py --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright run examples/rows/layer_norm_staying.py --kernel 'build(m=3, n=6144, dtype="float32", lanes=64, cluster=2, clusters=2, land=6, w_kept=8, b_kept=4, ahead=2, hints={"l2_evict": "evict_last"})' --expect 'Y ~= (X - mean(X, axis=1, keepdims=True)) / sqrt(mean((X - mean(X, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * W + B'
#   warpwright explain examples/rows/layer_norm_staying.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, cbx, tx


def build(
    m=5, n=5000, dtype="bfloat16", eps=1e-5, lanes=64, cluster=2, clusters=2, land=None, w_kept=None, b_kept=None,
    ahead=1, hints=None
):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    size = 4 if dtype == "float32" else 2
    vec = 16 // size
    clusters = min(m, clusters)
    part = lanes * vec
    parts = (n + cluster * part - 1) // (cluster * part)  # of a row in a block
    # Parts that shared memory holds: of the next row, of W and of B. The next row's others are loaded into
    # the registers of this one as these become free, those of W and B come through the L2 cache.
    land = parts if land is None else land
    w_kept = parts if w_kept is None else w_kept
    b_kept = parts if b_kept is None else b_kept
    of_row = TileLayout(S[(parts, lanes, vec) : (vec, 1 @ tx, 1)])
    of_part = TileLayout(S[(lanes, vec) : (1 @ tx, 1)])
    of_head = TileLayout(S[(32, vec) : (1 @ tx, 1)] + R[lanes // 32 : 32 @ tx])
    of_sums = TileLayout(S[(2, lanes, vec) : (vec, 1 @ tx, 1)])
    shared = TileLayout(S[(2, cluster, lanes, vec) : (vec, 1 @ cbx, 1 @ tx, 1)])
    of_ring = TileLayout(S[(ahead + 1, lanes, vec) : (vec, 1 @ tx, 1)])
    is_ragged = n % (cluster * parts * part) != 0
    edges = {"fill_value": 0} if is_ragged else {"cache": "nc"}
    of_x = {"fill_value": 0} if is_ragged else hints or {}

    @T.prim_func
    def layer_norm(X_ptr: T.handle, W_ptr: T.handle, B_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        W = T.match_buffer(W_ptr, (n,), dtype)
        B = T.match_buffer(B_ptr, (n,), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        T.device_entry()
        number = T.cluster_id([clusters])
        start = T.meta_var(T.cta_id_in_cluster([cluster]) * parts * part)
        thread = T.thread_id([lanes])
        # What a thread reads of shared memory it has asked for itself, so that it need not wait for others.
        own = T.meta_var(thread * vec)
        x = T.alloc_buffer((parts * part,), dtype, scope="local", layout=of_row)
        kept = T.alloc_buffer((land + w_kept + b_kept, part), dtype, scope="shared.dyn")
        f = T.alloc_buffer((part,), "float32", scope="local", layout=of_part)
        y = T.alloc_buffer((part,), dtype, scope="local", layout=of_part)
        head_in = T.alloc_buffer((32 * vec,), dtype, scope="local", layout=of_head)
        head = T.alloc_buffer((32 * vec,), "float32", scope="local", layout=of_head)
        c = T.alloc_buffer((1,), "float32", scope="local")
        sums = T.alloc_buffer((2, part), "float32", scope="local", layout=of_sums)
        all_sums = sums.view(2, cluster * part, layout=shared)
        moments = T.alloc_buffer((2, 1), "float32", scope="local")
        mean = T.alloc_buffer((1,), "float32", scope="local")
        scale = T.alloc_buffer((1,), "float32", scope="local")
        w_in = T.alloc_buffer((ahead + 1, part), dtype, scope="local", layout=of_ring)
        w = T.alloc_buffer((part,), "float32", scope="local", layout=of_part)
        b_in = T.alloc_buffer((ahead + 1, part), dtype, scope="local", layout=of_ring)
        b = T.alloc_buffer((part,), "float32", scope="local", layout=of_part)

        @T.inline
        def ask(row):  # for the parts that land in shared memory
            for k in T.unroll(land):
                first = T.meta_var(start + k * part + own)
                Tx.copy_async(kept[k, own : own + vec], X[row, first : first + vec], **of_x)

        @T.inline
        def load(k, row):  # part k, into registers
            first = T.meta_var(start + k * part)
            Tx.cta.copy(x[k * part : k * part + part], X[row, first : first + part], **of_x)

        @T.inline
        def fetch(k):  # part k of W and B, if it comes from the cache
            first = T.meta_var(start + k * part)
            if k >= w_kept:
                Tx.cta.copy(w_in[k % (ahead + 1), :], W[first : first + part], **edges)
            if k >= b_kept:
                Tx.cta.copy(b_in[k % (ahead + 1), :], B[first : first + part], **edges)

        ask(number)
        T.ptx.cp_async.commit_group()
        if land < parts:
            for k in T.unroll(land, parts):
                load(k, number)
        Tx.cta.copy(head_in, X[number, 0 : 32 * vec], fill_value=0)
        for k in T.unroll(w_kept):
            first = T.meta_var(start + k * part + own)
            Tx.copy_async(kept[land + k, own : own + vec], W[first : first + vec], fill_value=0)
        for k in T.unroll(b_kept):
            first = T.meta_var(start + k * part + own)
            Tx.copy_async(kept[land + w_kept + k, own : own + vec], B[first : first + vec], fill_value=0)
        T.ptx.cp_async.commit_group()

        for step in T.serial((m + clusters - 1) // clusters):
            row = T.meta_var(number + step * clusters)
            following = T.meta_var(row + clusters)
            if row < m:
                if step == 0:
                    T.ptx.cp_async.wait_group(1)  # for the row; W and B are needed later
                if step > 0:
                    T.ptx.cp_async.wait_group(0)
                for k in T.unroll(land):
                    Tx.cta.copy(x[k * part : k * part + part], kept[k, :])
                Tx.cta.cast(head, head_in)
                Tx.cta.sum(c, head)
                Tx.cta.mul(c, c, 1 / min(n, 32 * vec))
                if following < m:
                    ask(following)
                    Tx.cta.copy(head_in, X[following, 0 : 32 * vec], fill_value=0)
                T.ptx.cp_async.commit_group()
                Tx.cta.zero(sums)
                for k in T.unroll(parts):
                    Tx.cta.cast(f, x[k * part : k * part + part])
                    Tx.cta.sub(f, f, c)
                    if is_ragged:
                        for i in T.unroll(vec):
                            if start + k * part + thread * vec + i >= n:
                                f.local(vec)[i] = T.float32(0)
                    Tx.cta.add(sums[0, :], sums[0, :], f)
                    Tx.cta.fma(sums[1, :], f, f, sums[1, :])
                for k in T.unroll(min(ahead, parts)):
                    fetch(parts - 1 - k)
                Tx.cluster.sum(moments, all_sums)
                Tx.cta.mul(moments, moments, 1 / n)
                Tx.cta.mul(scale, moments[0, :], moments[0, :])
                Tx.cta.sub(scale, moments[1, :], scale)
                Tx.cta.maximum(scale, scale, 0)
                Tx.cta.add(scale, scale, eps)
                Tx.cta.rsqrt(scale, scale)
                Tx.cta.add(mean, moments[0, :], c)
                T.ptx.cp_async.wait_group(1)

                # Parts that are loaded into registers go first: the next row's have more time to come.
                for back in T.unroll(parts):
                    k = T.meta_var(parts - 1 - back)
                    first = T.meta_var(start + k * part)
                    if k >= ahead:
                        fetch(k - ahead)
                    if k < w_kept:
                        Tx.cta.copy(w_in[k % (ahead + 1), :], kept[land + k, :])
                    if k < b_kept:
                        Tx.cta.copy(b_in[k % (ahead + 1), :], kept[land + w_kept + k, :])
                    Tx.cta.cast(f, x[k * part : k * part + part])
                    Tx.cta.cast(w, w_in[k % (ahead + 1), :])
                    Tx.cta.cast(b, b_in[k % (ahead + 1), :])
                    Tx.cta.sub(f, f, mean)
                    Tx.cta.mul(f, f, scale)
                    Tx.cta.fma(f, f, w, b)
                    Tx.cta.cast(y, f)
                    Tx.cta.copy(Y[row, first : first + part], y, clip=True)
                    if k >= land:
                        if following < m:
                            load(k, following)

    return layer_norm


kernel = build()
