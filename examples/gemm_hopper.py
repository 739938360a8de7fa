# D = A @ B.T on Hopper's tensor cores (wgmma) at the speed of cuBLAS: A is (M, K), B is (N, K).
#
# As many CTAs as there are SMs stay, and take tile after tile of D (BM x BN), down groups of rows so
# that neighbours in time share A and B in the L2 cache. One thread of a producer warpgroup has the
# copy engine fill a ring of stages with slices of A and B, BK deep; it gives its registers to the
# consumers, warpgroups of 64 rows each, which multiply out of shared memory. A consumer keeps one
# group of products under way and gives back the stage of the one before. Finished tiles go through
# shared memory in chunks of columns (stmatrix), out of which the copy engine stores them while the
# next tile is multiplied.
#
# M, N and K need not be multiples of the tile: the engine fills with zeros what lies outside of A
# and B, and does not store what lies outside of D.
#
# What can be chosen, besides the tile:
#   trans_a, trans_b   A is kept as (K, M); B as (N, K), which is the usual case. 16-bit types only
#                      have the others: tensor cores read 8 and 32 bits along K.
#   cluster            CTAs with tiles one below the other share B: each loads a part of it for all.
#   swap               computes D.T = B @ A.T, so that a tile has 64 rows of B and BN rows of A: for
#                      products with few rows.
#   promote            adds the sums of each BK to float32 registers: sums of 8-bit floats have 13
#                      bits of fraction in the tensor core.
#   bias, row_scale, residual, activation
#                      D = activation(row_scale * A @ B.T + bias) + residual, without another pass
#                      over D. An activation is an inline function; there are some below.
#
#   warpwright run examples/gemm_hopper.py --expect 'D ~= A @ B.T'
#   warpwright run examples/gemm_hopper.py --kernel 'build(M=200, N=264, K=136)' --expect 'D ~= A @ B.T'
#   warpwright run examples/gemm_hopper.py --kernel 'build(trans_a=True, trans_b=False)' --expect 'D ~= A.T @ B'
#   warpwright run examples/gemm_hopper.py --kernel 'build(M=16, N=512, BM=64, BN=16, swap=True)' --expect 'D ~= A @ B.T'
#   warpwright run examples/gemm_hopper.py --kernel 'build(bias=True, activation=relu)' --expect 'D ~= max(A @ B.T + bias, 0)'
#   warpwright compile examples/gemm_hopper.py --kernel 'build(8192, 8192, 8192, ctas=132)' --emit ptx
#
# matmul.py picks the parameters for a shape.
from tvm import DataType
from tvm.backend.cuda.lang import ClusterPersistentScheduler2D
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, laneid, mma_shared_layout, wgmma_tile_layout, wid_in_wg

kSharedBytes = 227 * 1024  # of a CTA


def ceil_div(a, b):
    return (a + b - 1) // b


# Activations: what is done in place to the sums x, float32, a chunk of a warpgroup. t is such a tile to spare.
# Write your own like these.
@T.inline
def relu(x, t):
    Tx.wg.relu(x, x)


@T.inline
def squared_relu(x, t):
    Tx.wg.relu(x, x)
    Tx.wg.mul(x, x, x)


@T.inline
def gelu(x, t):
    Tx.wg.gelu(x, x, fast=True)


# x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))), with one approximate instruction: half as many as
# Tx.gelu_tanh has, and as exact as float16 is.
@T.inline
def gelu_tanh(x, t):
    Tx.wg.mul(t, x, x)
    Tx.wg.fma(t, t, 0.0356774081, 0.7978845608)
    Tx.wg.mul(t, t, x)
    Tx.wg.tanh(t, t, fast=True)
    Tx.wg.mul(x, x, 0.5)
    Tx.wg.fma(x, x, t, x)


@T.inline
def silu(x, t):
    Tx.wg.silu(x, x, fast=True)


def build(M=256, N=512, K=256, BM=128, BN=256, BK=None, stages=None, ctas=2, group=8, chunk=None,
          cluster=1, trans_a=False, trans_b=True, swap=False, promote=False, bias=False,
          row_scale=False, residual=False, activation=None, dtype="float16", out="float16",
          acc_dtype="float32"):
    size, out_size = DataType(dtype).bits // 8, DataType(out).bits // 8
    assert size == 2 or (trans_b and not trans_a), f"{dtype} must lie along K: A as (M, K), B as (N, K)"
    assert BM % 64 == 0 and BM > 0, f"BM is {BM}, expected a multiple of 64: a warpgroup has 64 rows"
    assert not (swap and (bias or row_scale or residual)), "bias, row_scale and residual need swap=False"
    assert bias or not residual, "residual needs bias=True"
    assert not (row_scale and bias), "row_scale needs bias=False"
    BK = 128 // size if BK is None else BK  # 128 bytes: a row of the widest swizzle
    assert BN % 8 == 0 and BN > 0, f"BN is {BN}, expected a multiple of 8"
    if chunk is None:
        chunk = max([c for c in range(8, min(BN, 256 // out_size) + 1, 8) if BN % c == 0])
    assert BN % chunk == 0, f"BN is {BN}, expected a multiple of the chunk of {chunk} columns"
    assert ctas >= cluster, f"{ctas} CTAs make no cluster of {cluster}"
    consumers = BM // 64
    regs = {2: (40, 232), 3: (32, 160)}.get(consumers, (None, None))
    tf32 = {"is_AB_tf32": True} if dtype == "float32" else {}

    # X has the rows of a tile and Y its columns.
    rows, columns = (N, M) if swap else (M, N)
    x_turned, y_turned = (not trans_b, trans_a) if swap else (trans_a, not trans_b)
    x_tile, y_tile = (BK, BM) if x_turned else (BM, BK), (BK, BN) if y_turned else (BN, BK)
    d_tile = (chunk, 64) if swap else (64, chunk)
    stage_bytes, d_bytes = (BM + BN) * BK * size, consumers * 64 * chunk * out_size
    if stages is None:
        stages = min((kSharedBytes - 1024 - d_bytes) // stage_bytes, 12)
    assert stages > 1, f"{stages} stages of {stage_bytes} bytes: one is multiplied while another is filled"
    tiles_m, tiles_n, tiles_k = ceil_div(rows, BM * cluster), ceil_div(columns, BN), ceil_div(K, BK)
    edges = {"fill_value": 0} if M % (BM * cluster) + N % BN > 0 else {}
    clusters = min(ctas // cluster, tiles_m * tiles_n)
    # Rows that begin inside of a sector of 32 bytes are in two lines each; to fetch 256 bytes then is too much.
    row_bytes = (M if trans_a else K) * size, (K if trans_b else N) * size
    x_promotion, y_promotion = [{} if bytes % 32 == 0 else {"tensormap_l2_promotion": "128B"}
                                for bytes in (row_bytes[::-1] if swap else row_bytes)]
    everyone = tuple(range(cluster))
    to_all = {"multicast": everyone, "split": True} if cluster > 1 else {}

    # A number for each column or row of a tile, in the threads that have sums of it.
    of_columns = TileLayout(S[(BN // 8, 4, 2) : (2, 1 @ laneid, 1)] + R[(4, 8) : (1 @ wid_in_wg, 4 @ laneid)])
    of_rows = TileLayout(S[(4, 2, 8) : (1 @ wid_in_wg, 1, 4 @ laneid)] + R[4 : 1 @ laneid])

    @T.inline
    def body(A, B, D, the_bias, the_scale, the_residual):
        X, Y = (B, A) if swap else (A, B)
        T.device_entry()
        cta = T.cta_id([clusters * cluster])
        rank = T.cta_id_in_cluster([cluster]) if cluster > 1 else 0
        wg = T.warpgroup_id([consumers + 1])
        warp = T.warp_id_in_wg([4])
        lane = T.lane_id([32])
        pool = T.SMEMPool()
        X_s = pool.alloc((stages,) + x_tile, dtype, align=1024,
                         layout=mma_shared_layout(dtype, "auto", (stages,) + x_tile))
        Y_s = pool.alloc((stages,) + y_tile, dtype, align=1024,
                         layout=mma_shared_layout(dtype, "auto", (stages,) + y_tile))
        D_s = pool.alloc((consumers,) + d_tile, out, align=1024,
                         layout=mma_shared_layout(out, "auto", (consumers,) + d_tile))
        pipe = T.Pipeline(pool, stages, full="tma", empty="mbar", init_full=1,
                          init_empty=consumers * cluster, empty_phase_offset=1)
        pool.commit()
        T.ptx.fence.mbarrier_init()
        if cluster > 1:
            T.cuda.cluster_sync()
        else:
            T.cuda.cta_sync()

        @T.inline
        def release(stage):
            # The stage is filled again by all CTAs of the cluster, so all of them hear of it.
            if warp == 0:
                if cluster > 1:
                    if lane < cluster:
                        pipe.empty.arrive(stage, remote=lane)
                else:
                    if lane == 0:
                        pipe.empty.arrive(stage)

        with T.WarpgroupRole(wg, consumers, regs=regs[0]):
            if warp == 0:
                if lane == 0:
                    at = T.PipelineState(stages, 0)
                    tiles = ClusterPersistentScheduler2D("tiles", tiles_m, tiles_n, clusters, group)
                    tiles.init(cta // cluster)
                    while tiles.valid():
                        m0 = T.meta_var((tiles.m_idx * cluster + rank) * BM)
                        n0 = T.meta_var(tiles.n_idx * BN)
                        for k in range(tiles_k):
                            k0 = T.meta_var(k * BK)
                            pipe.empty.wait(at.stage, at.phase)
                            pipe.full.arrive(at.stage, tx_count=stage_bytes)
                            full = T.meta_var(pipe.full.ptr_to([at.stage]))
                            x = T.meta_var(X[k0 : k0 + BK, m0 : m0 + BM] if x_turned
                                           else X[m0 : m0 + BM, k0 : k0 + BK])
                            y = T.meta_var(Y[k0 : k0 + BK, n0 : n0 + BN] if y_turned
                                           else Y[n0 : n0 + BN, k0 : k0 + BK])
                            Tx.copy_async(X_s[at.stage, :, :], x, mbar=full, fill_value=0, **x_promotion)
                            Tx.copy_async(Y_s[at.stage, :, :], y, mbar=full, fill_value=0, **y_promotion, **to_all)
                            at.advance()
                        tiles.next_tile()

        with T.WarpgroupRole(wg, (0, consumers), regs=regs[1], increase=True):
            acc = T.alloc_buffer((64, BN), acc_dtype, scope="local",
                                 layout=wgmma_tile_layout("D", (64, BN), acc_dtype))
            if promote:
                part = T.alloc_buffer((64, BN), acc_dtype, scope="local",
                                      layout=wgmma_tile_layout("D", (64, BN), acc_dtype))
            half = T.alloc_buffer((64, chunk), out, scope="local",
                                  layout=wgmma_tile_layout("D", (64, chunk), acc_dtype))
            spare = T.alloc_buffer((64, chunk), acc_dtype, scope="local",
                                   layout=wgmma_tile_layout("D", (64, chunk), acc_dtype))
            if bias:
                bias_r = T.alloc_buffer((BN,), out, scope="local", layout=of_columns)
            if row_scale:
                scale_r = T.alloc_buffer((64, 1), "float32", scope="local", layout=of_rows)
            mine = T.meta_var(wg if consumers > 1 else 0)
            row = T.meta_var(mine * 64)
            at = T.PipelineState(stages, 0)
            read = T.PipelineState(stages, 0)
            tiles = ClusterPersistentScheduler2D("tiles", tiles_m, tiles_n, clusters, group)
            tiles.init(cta // cluster)

            @T.inline
            def multiply(sums, accum):
                x = T.meta_var(X_s[at.stage, :, row : row + 64] if x_turned
                               else X_s[at.stage, row : row + 64, :])
                pipe.full.wait(at.stage, at.phase)
                T.ptx.wgmma.fence()
                Tx.wg.gemm_async(sums, x, Y_s[at.stage, :, :], transA=x_turned, transB=y_turned,
                                 accum=accum, **tf32)
                T.ptx.wgmma.commit_group()

            @T.inline
            def finish(sums, m, n, c0):
                # What is done to a chunk of sums before it is rounded; m, n: its place in D.
                if row_scale:
                    Tx.wg.mul(sums, sums, scale_r)
                if bias:
                    Tx.wg.add(sums, sums, bias_r[c0 : c0 + chunk])
                if activation is not None:
                    activation(sums, spare)
                if residual:
                    Tx.wg.copy(half, the_residual[m : m + 64, n : n + chunk], **edges)
                    Tx.wg.add(sums, sums, half)

            while tiles.valid():
                # Known not to begin before D.
                m0 = T.meta_var((T.max(tiles.m_idx, 0) * cluster + rank) * BM + row)
                n0 = T.meta_var(T.max(tiles.n_idx, 0) * BN)
                # These are there when the products are done.
                if bias:
                    Tx.wg.copy(bias_r, the_bias[n0 : n0 + BN], **edges)
                if row_scale:
                    Tx.wg.copy(scale_r, the_scale[m0 : m0 + 64, :], **edges)
                if promote:
                    Tx.wg.zero(acc)
                for k in range(tiles_k):
                    if promote:
                        multiply(part, False)
                        T.ptx.wgmma.wait_group(0)
                        release(at.stage)
                        Tx.wg.add(acc, acc, part)
                    else:
                        multiply(acc, k > 0)
                        T.ptx.wgmma.wait_group(1)
                        if k > 0:
                            release(read.stage)
                            read.advance()
                    at.advance()
                if not promote:
                    T.ptx.wgmma.wait_group(0)
                    release(read.stage)
                    read.advance()
                for j in T.unroll(BN // chunk):
                    c0 = T.meta_var(j * chunk)
                    m = T.meta_var(n0 + c0 if swap else m0)
                    n = T.meta_var(m0 if swap else n0 + c0)
                    finish(acc[:, c0 : c0 + chunk], m, n, c0)
                    # The store before has read the chunk.
                    if warp == 0:
                        if lane == 0:
                            T.ptx.cp_async.bulk.wait_group(0, read=True)
                    T.cuda.warpgroup_sync(wg + 1)
                    Tx.wg.cast(half, acc[:, c0 : c0 + chunk])
                    if swap:
                        turned = D_s.permute(0, 2, 1)
                        Tx.wg.copy(turned[mine, :, :], half)
                    else:
                        Tx.wg.copy(D_s[mine, :, :], half)
                    T.ptx.fence.proxy_async("shared::cta")
                    T.cuda.warpgroup_sync(wg + 1)
                    if warp == 0:
                        if lane == 0:
                            Tx.copy_async(D[m : m + d_tile[0], n : n + d_tile[1]], D_s[mine, :, :], clip=True)
                            T.ptx.cp_async.bulk.commit_group()
                tiles.next_tile()
            if warp == 0:
                if lane == 0:
                    T.ptx.cp_async.bulk.wait_group(0, read=True)
        # A CTA stays as long as another one may send to it.
        if cluster > 1:
            T.cuda.cluster_sync()

    a_shape, b_shape = (K, M) if trans_a else (M, K), (N, K) if trans_b else (K, N)

    @T.prim_func
    def gemm(A: T.Buffer(a_shape, dtype), B: T.Buffer(b_shape, dtype), D: T.Buffer((M, N), out)):
        body(A, B, D, None, None, None)

    @T.prim_func
    def gemm_bias(A: T.Buffer(a_shape, dtype), B: T.Buffer(b_shape, dtype), bias: T.Buffer((N,), out),
                  D: T.Buffer((M, N), out)):
        body(A, B, D, bias, None, None)

    @T.prim_func
    def gemm_scaled(A: T.Buffer(a_shape, dtype), B: T.Buffer(b_shape, dtype), scale: T.Buffer((M, 1), "float32"),
                    D: T.Buffer((M, N), out)):
        body(A, B, D, None, scale, None)

    @T.prim_func
    def gemm_residual(A: T.Buffer(a_shape, dtype), B: T.Buffer(b_shape, dtype), bias: T.Buffer((N,), out),
                      C: T.Buffer((M, N), out), D: T.Buffer((M, N), out)):
        body(A, B, D, bias, None, C)

    if residual:
        return gemm_residual
    if row_scale:
        return gemm_scaled
    return gemm_bias if bias else gemm


kernel = build()
