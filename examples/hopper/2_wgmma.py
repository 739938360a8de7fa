# D = A @ B.T by wgmma, the second step: a warpgroup multiplies straight from shared memory.
# docs/guide/first_hopper_kernel.md explains it.
#
#   warpwright run examples/hopper/2_wgmma.py --expect 'D ~= A @ B.T'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(M=256, N=256, K=256, BM=128, BN=128, BK=64, dtype="float16"):
    @T.prim_func
    def product(A: T.Buffer((M, K), dtype), B: T.Buffer((N, K), dtype), D: T.Buffer((M, N), "float32")):
        T.device_entry()
        by, bx = T.cta_id([M // BM, N // BN])
        thread = T.thread_id([128])
        m: T.let = by * BM
        n: T.let = bx * BN
        pool = T.SMEMPool()
        A_s = pool.alloc((BM, BK), dtype, layout="auto", align=1024)
        B_s = pool.alloc((BN, BK), dtype, layout="auto", align=1024)
        full = T.TMABar(pool, 1)
        full.init(1)
        pool.commit()
        T.ptx.fence.mbarrier_init()
        T.cuda.cta_sync()
        acc = T.alloc_local((BM, BN), "float32", layout="auto")
        for k in range(K // BK):
            if thread == 0:
                full.arrive(0, tx_count=(BM + BN) * BK * 2)
                Tx.copy_async(A_s, A[m : m + BM, k * BK : k * BK + BK], mbar=full.ptr_to([0]))
                Tx.copy_async(B_s, B[n : n + BN, k * BK : k * BK + BK], mbar=full.ptr_to([0]))
            full.wait(0, k % 2)
            T.ptx.wgmma.fence()
            Tx.wg.gemm_async(acc, A_s, B_s, accum=k > 0)
            T.ptx.wgmma.commit_group()
            T.ptx.wgmma.wait_group(0)
            T.cuda.cta_sync()
        Tx.wg.copy(D[m : m + BM, n : n + BN], acc)

    return product


kernel = build()
