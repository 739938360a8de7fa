# D = A @ B on tensor cores, with layouts that the compiler infers: the product decides for the registers
# and for the shared memory that it reads. gemm_mma.py has the layouts by hand. M, N and K need not be
# multiples of the tile.
#
#   warpwright run examples/gemm.py --kernel 'build(M=200, N=136, K=120)' --expect 'D ~= A @ B'
#   warpwright explain examples/gemm.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(M=256, N=256, K=256, BM=128, BN=128, BK=64, warps=4, stages=3, dtype="float16"):
    tiles_k, steps = -(-K // BK), BK // 16

    @T.prim_func
    def gemm(A: T.Buffer((M, K), dtype), B: T.Buffer((K, N), dtype), D: T.Buffer((M, N), dtype)):
        T.device_entry()
        by, bx = T.cta_id([-(-M // BM), -(-N // BN)])
        T.thread_id([warps * 32])
        pool = T.SMEMPool()
        A_s = pool.alloc((stages, BM, BK), dtype, layout="auto")
        B_s = pool.alloc((stages, BK, BN), dtype, layout="auto")
        pool.commit()
        A_f = T.alloc_local((BM, BK), dtype, layout="auto")
        B_f = T.alloc_local((BK, BN), dtype, layout="auto")
        acc = T.alloc_local((BM, BN), "float32", layout="auto")

        m0: T.let = by * BM
        n0: T.let = bx * BN

        @T.inline
        def load(t):
            k0: T.let = t * BK
            stage: T.let = t % stages
            if k0 < K:
                Tx.cta.copy_async(A_s[stage, :, :], A[m0 : m0 + BM, k0 : k0 + BK], fill_mode="zero")
                Tx.cta.copy_async(B_s[stage, :, :], B[k0 : k0 + BK, n0 : n0 + BN], fill_mode="zero")
            T.ptx.cp_async.commit_group()

        @T.inline
        def fetch(t, k):
            Tx.cta.copy(A_f[:, k : k + 16], A_s[t % stages, :, k : k + 16])
            Tx.cta.copy(B_f[k : k + 16, :], B_s[t % stages, k : k + 16, :])

        for s in T.unroll(stages - 1):
            load(s)
        Tx.cta.zero(acc)
        for t in T.serial(tiles_k):
            T.ptx.cp_async.wait_group(stages - 2)
            T.cuda.cta_sync()
            load(t + stages - 1)
            fetch(t, 0)
            for k in T.unroll(steps):
                if k + 1 < steps:
                    fetch(t, k * 16 + 16)
                Tx.cta.gemm(acc, A_f[:, k * 16 : k * 16 + 16], B_f[k * 16 : k * 16 + 16, :], acc, beta=1.0)
        D_f = T.alloc_cast_frag(acc, dtype)
        Tx.cta.cast(D_f, acc)
        Tx.cta.copy(D[m0 : m0 + BM, n0 : n0 + BN], D_f, clip=True)

    return gemm


kernel = build()
