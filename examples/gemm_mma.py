# D = A @ B on tensor cores: half-precision inputs, float32 sums.
#
# A CTA computes a tile of BM x BN of D. Slices of A and B, BK deep, come into shared memory through a
# ring of `stages` buffers (cp.async); ldmatrix takes them into registers one k16 step ahead of the
# mma.sync that uses them, also across the barrier between two slices; the finished tile goes out
# through shared memory in whole rows. Shared memory is swizzled, so that neither the copies nor
# ldmatrix and stmatrix have bank conflicts.
#
# M, N and K need not be multiples of the tile: elements outside A and B arrive as zeros, and
# elements outside D are not written. trans_a and trans_b are for operands kept as (K, M) and
# (N, K).
#
#   warpwright run examples/gemm_mma.py --expect 'D ~= A @ B'
#   warpwright run examples/gemm_mma.py --kernel 'build(M=200, N=136, K=120)' --expect 'D ~= A @ B'
#   warpwright run examples/gemm_mma.py --kernel 'build(trans_a=True)' --expect 'D ~= A.T @ B'
#   warpwright explain examples/gemm_mma.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import mma_shared_layout, mma_tile_layout


def ceil_div(a, b):
    return (a + b - 1) // b


def build(M=256, N=256, K=256, BM=128, BN=128, BK=64, WM=64, WN=64, stages=3, group=16,
          trans_a=False, trans_b=False, dtype="float16", out="float16"):
    warps_m, warps_n = BM // WM, BN // WN
    threads = warps_m * warps_n * 32
    tiles_m, tiles_n, tiles_k = ceil_div(M, BM), ceil_div(N, BN), ceil_div(K, BK)
    steps = BK // 16
    count = WM * WN // 32  # sums per thread
    out_size = 2 if out == "float32" else 1  # in elements of the inputs
    edges = {"fill_mode": "zero"} if M % BM + N % BN + K % BK > 0 else {}

    # Rows of 64 elements (128 bytes), whose eight 16-byte pieces are permuted by the row's number;
    # wider matrices are panels of such rows.
    def panels(rows, columns, copies=1):
        return mma_shared_layout(dtype, "128B", (copies, rows, columns))

    # Warps stand warps_m x warps_n over the tile; each has WM x WN of it in fragments of m16n8k16,
    # and its rows of A and columns of B beside them: warps in a row hold the same part of A.
    warps = (warps_m, warps_n)
    a_shape, a_tile = ((K, M), (BK, BM)) if trans_a else ((M, K), (BM, BK))
    b_shape, b_tile = ((N, K), (BN, BK)) if trans_b else ((K, N), (BK, BN))
    a_frag = mma_tile_layout("A", a_tile, dtype, warps, transposed=trans_a)
    b_frag = mma_tile_layout("B", b_tile, dtype, warps, transposed=trans_b)
    d_frag = mma_tile_layout("D", (BM, BN), "float32", warps)

    @T.prim_func
    def gemm(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, a_shape, dtype)
        B = T.match_buffer(B_ptr, b_shape, dtype)
        D = T.match_buffer(D_ptr, (M, N), out)
        T.device_entry()
        cta = T.cta_id([tiles_m * tiles_n])
        T.warp_id([warps_m * warps_n])
        T.lane_id([32])
        tid = T.thread_id([threads])
        pool = T.alloc_buffer((max(stages * (BM + BN) * BK, BM * BN * out_size),), dtype,
                              scope="shared.dyn")
        A_s = T.decl_buffer((stages,) + a_tile, dtype, data=pool.data, scope="shared.dyn",
                            layout=panels(*a_tile, stages))
        B_s = T.decl_buffer((stages,) + b_tile, dtype, data=pool.data, elem_offset=stages * BM * BK,
                            scope="shared.dyn", layout=panels(*b_tile, stages))
        D_s = T.decl_buffer((BM, BN), out, data=pool.data, scope="shared.dyn", layout=panels(BM, BN))
        A_f = T.alloc_buffer(a_tile, dtype, scope="local", layout=a_frag)
        B_f = T.alloc_buffer(b_tile, dtype, scope="local", layout=b_frag)
        acc = T.alloc_buffer((BM, BN), "float32", scope="local", layout=d_frag)
        D_f = T.alloc_buffer((BM, BN), out, scope="local", layout=d_frag)
        acc_reg = acc.local(count)
        D_reg = D_f.local(count)

        # Neighbouring CTAs share rows of A and columns of B while they are in the L2 cache.
        band: T.let = cta // (group * tiles_n)
        height: T.let = T.min(tiles_m - band * group, group)
        m0: T.let = (band * group + cta % (group * tiles_n) % height) * BM
        n0: T.let = cta % (group * tiles_n) // height * BN

        @T.inline
        def load(slice, stage):
            k0 = T.meta_var(slice * BK)
            if trans_a:
                Tx.cta.copy_async(A_s[stage, :, :], A[k0 : k0 + BK, m0 : m0 + BM], **edges)
            else:
                Tx.cta.copy_async(A_s[stage, :, :], A[m0 : m0 + BM, k0 : k0 + BK], **edges)
            if trans_b:
                Tx.cta.copy_async(B_s[stage, :, :], B[n0 : n0 + BN, k0 : k0 + BK], **edges)
            else:
                Tx.cta.copy_async(B_s[stage, :, :], B[k0 : k0 + BK, n0 : n0 + BN], **edges)

        @T.inline
        def fetch(stage, k):
            if trans_a:
                Tx.cta.copy(A_f[k : k + 16, :], A_s[stage, k : k + 16, :])
            else:
                Tx.cta.copy(A_f[:, k : k + 16], A_s[stage, :, k : k + 16])
            if trans_b:
                Tx.cta.copy(B_f[:, k : k + 16], B_s[stage, :, k : k + 16])
            else:
                Tx.cta.copy(B_f[k : k + 16, :], B_s[stage, k : k + 16, :])

        @T.inline
        def multiply(k):
            A_k = T.meta_var(A_f[k : k + 16, :] if trans_a else A_f[:, k : k + 16])
            B_k = T.meta_var(B_f[:, k : k + 16] if trans_b else B_f[k : k + 16, :])
            Tx.cta.gemm(acc, A_k, B_k, acc, transpose_A=trans_a, transpose_B=trans_b, beta=1.0)

        for s in T.unroll(stages - 1):
            if s < tiles_k:
                load(s, s)
            T.ptx.cp_async.commit_group()
        for i in T.unroll(count):
            acc_reg[i] = T.float32(0)
        T.ptx.cp_async.wait_group(stages - 2)
        T.cuda.cta_sync()
        fetch(0, 0)
        for t in T.serial(tiles_k):
            for k in T.unroll(steps):
                if k + 1 < steps:
                    fetch(t % stages, k * 16 + 16)
                else:
                    T.ptx.cp_async.wait_group(stages - 2)
                    T.cuda.cta_sync()
                    fetch((t + 1) % stages, 0)
                if k == 0:
                    if t + stages - 1 < tiles_k:
                        load(t + stages - 1, (t + stages - 1) % stages)
                    T.ptx.cp_async.commit_group()
                multiply(k * 16)

        T.ptx.cp_async.wait_group(0)
        T.cuda.cta_sync()
        for i in T.unroll(count):
            D_reg[i] = T.cast(acc_reg[i], out)
        Tx.cta.copy(D_s[:, :], D_f[:, :])
        T.cuda.cta_sync()
        if M % BM + N % BN == 0:
            Tx.cta.copy(D[m0 : m0 + BM, n0 : n0 + BN], D_s[:, :])
        else:
            for i in T.serial(BM * BN // threads):
                row: T.let = (i * threads + tid) // BN
                column: T.let = (i * threads + tid) % BN
                if m0 + row < M and n0 + column < N:
                    D[m0 + row, n0 + column] = D_s[row, column]

    return gemm


kernel = build()
