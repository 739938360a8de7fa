# D = A @ B.T by Hopper's tensor cores for few tiles and a long K: A is (M, K), B is (N, K).
#
# A tile of D alone would keep only some of the SMs busy. Here `split` CTAs share each tile; each has a
# part of K, multiplies it as gemm_hopper.py does, and leaves its sums in W. The last one to finish adds
# them up, always in the same order: equal inputs give equal bits, no matter which comes last. Warpgroups work
# on their own 64 rows, so each has its own count. The last one also sets the count back to zero: W may
# hold anything, `count` is zero before the first launch and after each.
#
#   warpwright run examples/gemm_splitk.py --arg count=zeros --expect 'D ~= A @ B.T'
#   warpwright run examples/gemm_splitk.py --kernel 'build(M=72, N=200, K=600)' --arg count=zeros --expect 'D ~= A @ B.T'
#   warpwright run examples/gemm_splitk.py --kernel 'build(trans_b=False, split=2)' --arg count=zeros --expect 'D ~= A @ B'
from tvm import DataType
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import mma_shared_layout, wgmma_tile_layout

kSharedBytes = 227 * 1024  # of a CTA


def ceil_div(a, b):
    return (a + b - 1) // b


def build(M=128, N=128, K=512, BM=64, BN=64, BK=None, stages=None, split=4, trans_a=False, trans_b=True,
          dtype="float16", out="float16"):
    size = DataType(dtype).bits // 8
    assert size == 2 or (trans_b and not trans_a), f"{dtype} must lie along K: A as (M, K), B as (N, K)"
    BK = 256 // size if BK is None else BK
    consumers = BM // 64
    regs = {2: (40, 232), 3: (32, 160)}.get(consumers, (None, None))
    a_tile, b_tile = (BK, BM) if trans_a else (BM, BK), (BN, BK) if trans_b else (BK, BN)
    stage_bytes = (BM + BN) * BK * size
    tiles_m, tiles_n, tiles_k = ceil_div(M, BM), ceil_div(N, BN), ceil_div(K, BK)
    assert split <= tiles_k, f"{split} parts of K, which has {tiles_k} slices of {BK}"
    if stages is None:
        stages = min((kSharedBytes - 1024) // stage_bytes, ceil_div(tiles_k, split), 12)

    @T.prim_func
    def gemm_splitk(A: T.Buffer((K, M) if trans_a else (M, K), dtype),
                    B: T.Buffer((N, K) if trans_b else (K, N), dtype), D: T.Buffer((M, N), out),
                    W: T.Buffer((split, tiles_m * tiles_n, consumers, BN // 8, 128, 4), "float32"),
                    count: T.Buffer((tiles_m * tiles_n, consumers), "int32")):
        T.device_entry()
        part, tile = T.cta_id([split, tiles_m * tiles_n])
        wg = T.warpgroup_id([consumers + 1])
        warp = T.warp_id_in_wg([4])
        lane = T.lane_id([32])
        thread = T.thread_id_in_wg([128])
        m0: T.let = tile % tiles_m * BM
        n0: T.let = tile // tiles_m * BN
        begin: T.let = part * tiles_k // split
        end: T.let = (part + 1) * tiles_k // split
        pool = T.SMEMPool()
        A_s = pool.alloc((stages,) + a_tile, dtype, align=1024,
                         layout=mma_shared_layout(dtype, "auto", (stages,) + a_tile))
        B_s = pool.alloc((stages,) + b_tile, dtype, align=1024,
                         layout=mma_shared_layout(dtype, "auto", (stages,) + b_tile))
        before = pool.alloc((consumers,), "int32")
        pipe = T.Pipeline(pool, stages, full="tma", empty="mbar", init_full=1, init_empty=consumers,
                          empty_phase_offset=1)
        pool.commit()
        T.ptx.fence.mbarrier_init()
        T.cuda.cta_sync()

        with T.WarpgroupRole(wg, consumers, regs=regs[0]):
            if warp == 0:
                if lane == 0:
                    at = T.PipelineState(stages, 0)
                    for k in T.serial(begin, end):
                        k0 = T.meta_var(k * BK)
                        a = T.meta_var(A[k0 : k0 + BK, m0 : m0 + BM] if trans_a else A[m0 : m0 + BM, k0 : k0 + BK])
                        b = T.meta_var(B[n0 : n0 + BN, k0 : k0 + BK] if trans_b else B[k0 : k0 + BK, n0 : n0 + BN])
                        full = T.meta_var(pipe.full.ptr_to([at.stage]))
                        pipe.empty.wait(at.stage, at.phase)
                        pipe.full.arrive(at.stage, tx_count=stage_bytes)
                        Tx.copy_async(A_s[at.stage, :, :], a, mbar=full, fill_value=0)
                        Tx.copy_async(B_s[at.stage, :, :], b, mbar=full, fill_value=0)
                        at.advance()

        with T.WarpgroupRole(wg, (0, consumers), regs=regs[1], increase=True):
            sums = wgmma_tile_layout("D", (64, BN), "float32")
            acc = T.alloc_buffer((64, BN), "float32", scope="local", layout=sums)
            acc_reg = acc.local(BN // 2)
            half = T.alloc_buffer((64, BN), out, scope="local", layout=sums)
            mine = T.meta_var(wg if consumers > 1 else 0)
            row = T.meta_var(mine * 64)
            m = T.meta_var(m0 + row)
            at = T.PipelineState(stages, 0)
            read = T.PipelineState(stages, 0)
            for k in T.serial(begin, end):
                a = T.meta_var(A_s[at.stage, :, row : row + 64] if trans_a else A_s[at.stage, row : row + 64, :])
                pipe.full.wait(at.stage, at.phase)
                T.ptx.wgmma.fence()
                Tx.wg.gemm_async(acc, a, B_s[at.stage, :, :], transA=trans_a, transB=not trans_b, accum=k > begin)
                T.ptx.wgmma.commit_group()
                T.ptx.wgmma.wait_group(1)
                if k > begin:
                    if warp == 0:
                        if lane == 0:
                            pipe.empty.arrive(read.stage)
                    read.advance()
                at.advance()
            T.ptx.wgmma.wait_group(0)

            # In the order of threads and registers: 16 bytes each, side by side.
            for i in T.unroll(BN // 8):
                for v in T.vectorized(4):
                    W[part, tile, mine, i, thread, v] = acc_reg[i * 4 + v]
            # All sums are there before the count says so.
            T.cuda.warpgroup_sync(wg + 1)
            if warp == 0:
                if lane == 0:
                    T.ptx.fence("acq_rel", "gpu")
                    before[mine] = T.cuda.atomic_add(T.address_of(count[tile, mine]), 1)
                    T.ptx.fence("acq_rel", "gpu")
            T.cuda.warpgroup_sync(wg + 1)
            if T.uniform(before[mine]) == split - 1:
                Tx.wg.zero(acc)
                for s in T.serial(split):
                    for i in T.unroll(BN // 8):
                        for v in T.vectorized(4):
                            acc_reg[i * 4 + v] = acc_reg[i * 4 + v] + W[s, tile, mine, i, thread, v]
                Tx.wg.cast(half, acc)
                Tx.wg.copy(D[m : m + 64, n0 : n0 + BN], half, clip=True)
                if warp == 0:
                    if lane == 0:
                        count[tile, mine] = 0

    return gemm_splitk


kernel = build()
