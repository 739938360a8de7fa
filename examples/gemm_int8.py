# D = A @ B.T in 8-bit integers with 32-bit sums, exact: mma.sync m16n8k32.
#
# Both operands have k as their inner dimension, which is how quantised weights are usually kept:
# a row of shared memory is then 128 values of k, and ldmatrix moves them as they are, four to a
# register. The pipeline is that of gemm_mma.py; M, N and K are multiples of the tile here.
#
#   warpwright run examples/gemm_int8.py --arg A=randint:-128,128,1 --arg B=randint:-128,128,2 --expect 'D == A @ B.T'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import mma_shared_layout, mma_tile_layout


def build(M=128, N=128, K=512, BM=128, BN=128, BK=128, WM=64, WN=64, stages=3, group=16,
          dtype="int8"):
    warps_m, warps_n = BM // WM, BN // WN
    tiles_m, tiles_n, tiles_k = M // BM, N // BN, K // BK
    steps = BK // 32
    count = WM * WN // 32  # sums per thread

    # Rows of 128 bytes, whose eight 16-byte pieces are permuted by the row's number.
    def panels(rows):
        return mma_shared_layout(dtype, "128B", (stages, rows, BK))

    # Fragments: rows over groups of four lanes, four neighbouring values of k to a register.
    a_frag = mma_tile_layout("A", (BM, BK), dtype, (warps_m, warps_n))
    b_frag = mma_tile_layout("B", (BN, BK), dtype, (warps_m, warps_n), transposed=True)
    d_frag = mma_tile_layout("D", (BM, BN), "int32", (warps_m, warps_n))

    @T.prim_func
    def gemm(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, K), dtype)
        B = T.match_buffer(B_ptr, (N, K), dtype)
        D = T.match_buffer(D_ptr, (M, N), "int32")
        T.device_entry()
        cta = T.cta_id([tiles_m * tiles_n])
        T.warp_id([warps_m * warps_n])
        T.lane_id([32])
        pool = T.alloc_buffer((stages * (BM + BN) * BK,), dtype, scope="shared.dyn")
        A_s = T.decl_buffer((stages, BM, BK), dtype, data=pool.data, scope="shared.dyn",
                            layout=panels(BM))
        B_s = T.decl_buffer((stages, BN, BK), dtype, data=pool.data, elem_offset=stages * BM * BK,
                            scope="shared.dyn", layout=panels(BN))
        A_f = T.alloc_buffer((BM, BK), dtype, scope="local", layout=a_frag)
        B_f = T.alloc_buffer((BN, BK), dtype, scope="local", layout=b_frag)
        acc = T.alloc_buffer((BM, BN), "int32", scope="local", layout=d_frag)
        acc_reg = acc.local(count)

        band: T.let = cta // (group * tiles_n)
        height: T.let = T.min(tiles_m - band * group, group)
        m0: T.let = (band * group + cta % (group * tiles_n) % height) * BM
        n0: T.let = cta % (group * tiles_n) // height * BN

        @T.inline
        def load(slice, stage):
            k0 = T.meta_var(slice * BK)
            Tx.cta.copy_async(A_s[stage, :, :], A[m0 : m0 + BM, k0 : k0 + BK])
            Tx.cta.copy_async(B_s[stage, :, :], B[n0 : n0 + BN, k0 : k0 + BK])

        @T.inline
        def fetch(stage, k):
            Tx.cta.copy(A_f[:, k : k + 32], A_s[stage, :, k : k + 32])
            Tx.cta.copy(B_f[:, k : k + 32], B_s[stage, :, k : k + 32])

        for s in T.unroll(stages - 1):
            if s < tiles_k:
                load(s, s)
            T.ptx.cp_async.commit_group()
        for i in T.unroll(count):
            acc_reg[i] = 0
        T.ptx.cp_async.wait_group(stages - 2)
        T.cuda.cta_sync()
        fetch(0, 0)
        for t in T.serial(tiles_k):
            for k in T.unroll(steps):
                if k + 1 < steps:
                    fetch(t % stages, k * 32 + 32)
                else:
                    T.ptx.cp_async.wait_group(stages - 2)
                    T.cuda.cta_sync()
                    fetch((t + 1) % stages, 0)
                if k == 0:
                    if t + stages - 1 < tiles_k:
                        load(t + stages - 1, (t + stages - 1) % stages)
                    T.ptx.cp_async.commit_group()
                Tx.cta.gemm(acc, A_f[:, k * 32 : k * 32 + 32], B_f[:, k * 32 : k * 32 + 32], acc,
                            transpose_B=True, beta=1.0)
        Tx.cta.copy(D[m0 : m0 + BM, n0 : n0 + BN], acc[:, :])

    return gemm


kernel = build()
