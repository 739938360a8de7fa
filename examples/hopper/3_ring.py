# D = A @ B.T with a ring of stages, the third step: a producer warpgroup fills stages while a consumer warpgroup
# multiplies those filled before. docs/guide/first_hopper_kernel.md explains it.
#
#   warpwright run examples/hopper/3_ring.py --expect 'D ~= A @ B.T'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(M=256, N=256, K=512, BM=128, BN=128, BK=64, stages=4, dtype="float16"):
    @T.prim_func
    def product(A: T.Buffer((M, K), dtype), B: T.Buffer((N, K), dtype), D: T.Buffer((M, N), "float32")):
        T.device_entry()
        by, bx = T.cta_id([M // BM, N // BN])
        group = T.warpgroup_id([2])
        thread = T.thread_id_in_wg([128])
        m: T.let = by * BM
        n: T.let = bx * BN
        pool = T.SMEMPool()
        A_s = pool.alloc((stages, BM, BK), dtype, layout="auto", align=1024)
        B_s = pool.alloc((stages, BN, BK), dtype, layout="auto", align=1024)
        pipe = T.Pipeline(pool, stages, full="tma", empty="mbar", init_empty=128, empty_phase_offset=1)
        pool.commit()
        T.ptx.fence.mbarrier_init()
        T.cuda.cta_sync()
        with T.WarpgroupRole(group, 1):
            if thread == 0:
                at = T.PipelineState(stages, 0)
                for k in range(K // BK):
                    pipe.empty.wait(at.stage, at.phase)
                    pipe.full.arrive(at.stage, tx_count=(BM + BN) * BK * 2)
                    full = T.meta_var(pipe.full.ptr_to([at.stage]))
                    Tx.copy_async(A_s[at.stage, :, :], A[m : m + BM, k * BK : k * BK + BK], mbar=full)
                    Tx.copy_async(B_s[at.stage, :, :], B[n : n + BN, k * BK : k * BK + BK], mbar=full)
                    at.advance()
        with T.WarpgroupRole(group, 0):
            acc = T.alloc_local((BM, BN), "float32", layout="auto")
            at = T.PipelineState(stages, 0)
            for k in range(K // BK):
                pipe.full.wait(at.stage, at.phase)
                T.ptx.wgmma.fence()
                Tx.wg.gemm_async(acc, A_s[at.stage, :, :], B_s[at.stage, :, :], accum=k > 0)
                T.ptx.wgmma.commit_group()
                T.ptx.wgmma.wait_group(0)
                pipe.empty.arrive(at.stage)
                at.advance()
            Tx.wg.copy(D[m : m + BM, n : n + BN], acc)

    return product


kernel = build()
