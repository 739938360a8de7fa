# D = A @ B.T on Hopper's tensor cores for few tiles and a long K: A is (M, K), B is (N, K).
#
# A tile of D alone would keep only some of the SMs busy. Here the CTAs of a cluster share each tile:
# each has a part of K, multiplies it as gemm_hopper.py does, and leaves its sums in its shared memory.
# Then they share the columns of the tile out: each CTA fetches the sums of its columns from all of them,
# adds them up in the order of the parts, and stores them. Equal inputs give equal bits, nothing goes
# through global memory, and no CTA waits for another one to add up alone.
#
#   warpwright run examples/gemm_splitk.py --expect 'D ~= A @ B.T'
#   warpwright run examples/gemm_splitk.py --kernel 'build(M=72, N=200, K=600)' --expect 'D ~= A @ B.T'
#   warpwright run examples/gemm_splitk.py --kernel 'build(trans_b=False, split=2)' --expect 'D ~= A @ B'
from tvm import DataType
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, mma_shared_layout, tid_in_wg, wgmma_tile_layout

kSharedBytes = 227 * 1024  # of a CTA


def ceil_div(a, b):
    return (a + b - 1) // b


def build(M=128, N=128, K=512, BM=64, BN=64, BK=None, stages=None, split=4, trans_a=False, trans_b=True,
          dtype="float16", out="float16", acc_dtype="float32"):
    size = DataType(dtype).bits // 8
    assert size == 2 or (trans_b and not trans_a), f"{dtype} must lie along K: A as (M, K), B as (N, K)"
    assert BM % 64 == 0 and BM > 0, f"BM is {BM}, expected a multiple of 64: a warpgroup has 64 rows"
    assert BN % (8 * split) == 0, f"BN is {BN}, expected a multiple of 8 for each of {split} parts"
    BK = (256 if BM * BN <= 8192 else 128) // size if BK is None else BK
    consumers = BM // 64
    regs = {2: (40, 232), 3: (32, 160)}.get(consumers, (None, None))
    tf32 = {"is_AB_tf32": True} if dtype == "float32" else {}
    a_tile, b_tile = (BK, BM) if trans_a else (BM, BK), (BN, BK) if trans_b else (BK, BN)
    stage_bytes, sum_bytes = (BM + BN) * BK * size, BM * BN * 4
    tiles_m, tiles_n, tiles_k = ceil_div(M, BM), ceil_div(N, BN), ceil_div(K, BK)
    assert split <= tiles_k, f"{split} parts of K, which has {tiles_k} slices of {BK}"
    if stages is None:
        stages = min((kSharedBytes - 1024 - sum_bytes) // stage_bytes, ceil_div(tiles_k, split), 12)
    assert stages > 0, f"{stages} stages of {stage_bytes} bytes beside {sum_bytes} bytes of sums"
    groups, columns = BN // 8 // split, BN // split  # of D, for each CTA to add up; 8 columns are a group
    edges = {"clip": True} if M % BM + N % BN > 0 else {}
    a_promotion, b_promotion = [{} if row * size % 32 == 0 else {"tensormap_l2_promotion": "128B"}
                                for row in (M if trans_a else K, K if trans_b else N)]

    @T.prim_func
    def gemm_splitk(A: T.Buffer((K, M) if trans_a else (M, K), dtype),
                    B: T.Buffer((N, K) if trans_b else (K, N), dtype), D: T.Buffer((M, N), out)):
        T.device_entry()
        tile = T.cluster_id([tiles_m * tiles_n])
        part = T.cta_id_in_cluster([split])
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
        sums = pool.alloc((consumers, BN // 8, 128, 4), acc_dtype, align=128)
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
                        Tx.copy_async(A_s[at.stage, :, :], a, mbar=full, fill_value=0, **a_promotion)
                        Tx.copy_async(B_s[at.stage, :, :], b, mbar=full, fill_value=0, **b_promotion)
                        at.advance()

        mine = T.meta_var(wg if consumers > 1 else 0)
        row = T.meta_var(mine * 64)
        with T.WarpgroupRole(wg, (0, consumers), regs=regs[1], increase=True):
            acc = T.alloc_buffer((64, BN), acc_dtype, scope="local",
                                 layout=wgmma_tile_layout("D", (64, BN), acc_dtype))
            acc_reg = acc.local(BN // 2)
            at = T.PipelineState(stages, 0)
            read = T.PipelineState(stages, 0)
            for k in T.serial(begin, end):
                a = T.meta_var(A_s[at.stage, :, row : row + 64] if trans_a else A_s[at.stage, row : row + 64, :])
                pipe.full.wait(at.stage, at.phase)
                T.ptx.wgmma.fence()
                Tx.wg.gemm_async(acc, a, B_s[at.stage, :, :], transA=trans_a, transB=not trans_b,
                                 accum=k > begin, **tf32)
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
                    sums[mine, i, thread, v] = acc_reg[i * 4 + v]

        # All sums of the cluster are there.
        T.cuda.cluster_sync()
        if wg < consumers:
            fetched = T.alloc_buffer((groups, 128, 4), acc_dtype, scope="local",
                                     layout=TileLayout(S[(groups, 128, 4) : (4, 1 @ tid_in_wg, 1)]))
            fetched_reg = fetched.local(columns // 2)
            total = T.alloc_buffer((64, columns), acc_dtype, scope="local",
                                   layout=wgmma_tile_layout("D", (64, columns), acc_dtype))
            total_reg = total.local(columns // 2)
            rounded = T.alloc_buffer((64, columns), out, scope="local",
                                     layout=wgmma_tile_layout("D", (64, columns), acc_dtype))
            Tx.wg.zero(total)
            for other in T.unroll(split):
                Tx.wg.copy(fetched, sums[mine, part * groups : part * groups + groups, :, :], remote_cta_id=other)
                for i in T.unroll(columns // 2):
                    total_reg[i] = total_reg[i] + fetched_reg[i]
            Tx.wg.cast(rounded, total)
            m, n = T.meta_var(m0 + row), T.meta_var(n0 + part * columns)
            Tx.wg.copy(D[m : m + 64, n : n + columns], rounded, **edges)
        # A CTA stays as long as another one may fetch its sums.
        T.cuda.cluster_sync()

    return gemm_splitk


kernel = build()
