# D = A @ B.T with two consumers and registers moved to them, the fourth step: each consumer warpgroup multiplies 64
# rows, keeps one product in flight while it waits for the next stage, and TMA stores the result. M, N and K need not
# be multiples of the tile: TMA fills with zeros outside A and B and does not write outside D.
# docs/guide/first_hopper_kernel.md explains it.
#
#   warpwright run examples/hopper/4_roles.py --expect 'D ~= A @ B.T'
#   warpwright run examples/hopper/4_roles.py --kernel 'build(M=200, N=264, K=136)' --expect 'D ~= A @ B.T'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(M=256, N=256, K=512, BM=128, BN=256, BK=64, stages=3, dtype="float16"):
    @T.prim_func
    def product(A: T.Buffer((M, K), dtype), B: T.Buffer((N, K), dtype), D: T.Buffer((M, N), dtype)):
        T.device_entry()
        by, bx = T.cta_id([T.ceildiv(M, BM), T.ceildiv(N, BN)])
        group = T.warpgroup_id([3])
        thread = T.thread_id_in_wg([128])
        m: T.let = by * BM
        n: T.let = bx * BN
        pool = T.SMEMPool()
        A_s = pool.alloc((stages, BM, BK), dtype, layout="auto", align=1024)
        B_s = pool.alloc((stages, BN, BK), dtype, layout="auto", align=1024)
        D_s = pool.alloc((BM, BN), dtype, layout="auto", align=1024)
        pipe = T.Pipeline(pool, stages, full="tma", empty="mbar", init_empty=2, empty_phase_offset=1)
        pool.commit()
        T.ptx.fence.mbarrier_init()
        T.cuda.cta_sync()
        with T.WarpgroupRole(group, 2, regs=40):
            if thread == 0:
                at = T.PipelineState(stages, 0)
                for k in range(T.ceildiv(K, BK)):
                    pipe.empty.wait(at.stage, at.phase)
                    pipe.full.arrive(at.stage, tx_count=(BM + BN) * BK * 2)
                    full = T.meta_var(pipe.full.ptr_to([at.stage]))
                    Tx.copy_async(A_s[at.stage, :, :], A[m : m + BM, k * BK : k * BK + BK], mbar=full, fill_value=0)
                    Tx.copy_async(B_s[at.stage, :, :], B[n : n + BN, k * BK : k * BK + BK], mbar=full, fill_value=0)
                    at.advance()
        with T.WarpgroupRole(group, (0, 2), regs=232, increase=True):
            acc = T.alloc_local((64, BN), "float32", layout="auto")
            out = T.alloc_local((64, BN), dtype, layout="auto")
            at = T.PipelineState(stages, 0)
            done = T.PipelineState(stages, 0)
            row = T.meta_var(group * 64)
            for k in range(T.ceildiv(K, BK)):
                pipe.full.wait(at.stage, at.phase)
                T.ptx.wgmma.fence()
                Tx.wg.gemm_async(acc, A_s[at.stage, row : row + 64, :], B_s[at.stage, :, :], accum=k > 0)
                T.ptx.wgmma.commit_group()
                T.ptx.wgmma.wait_group(1)
                if k > 0:
                    if thread == 0:
                        pipe.empty.arrive(done.stage)
                    done.advance()
                at.advance()
            T.ptx.wgmma.wait_group(0)
            Tx.wg.cast(out, acc)
            Tx.wg.copy(D_s[row : row + 64, :], out)
            T.ptx.fence.proxy_async("shared::cta")
            T.ptx.bar.sync(1, 256)
            if group == 0 and thread == 0:
                Tx.copy_async(D[m : m + BM, n : n + BN], D_s, clip=True)
                T.ptx.cp_async.bulk.commit_group()
                T.ptx.cp_async.bulk.wait_group(0)

    return product


kernel = build()
