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
#   warpwright run examples/gemm_hopper.py --expect 'D ~= A @ B.T'
#   warpwright run examples/gemm_hopper.py --kernel 'build(M=200, N=264, K=136)' --expect 'D ~= A @ B.T'
#   warpwright compile examples/gemm_hopper.py --kernel 'build(8192, 8192, 8192, ctas=132)' --emit ptx
from tvm import DataType
from tvm.backend.cuda.lang import ClusterPersistentScheduler2D
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import mma_shared_layout, wgmma_tile_layout


def ceil_div(a, b):
    return (a + b - 1) // b


def build(M=256, N=512, K=256, BM=128, BN=256, BK=64, stages=4, ctas=2, group=8, chunk=128,
          dtype="float16", out="float16", acc_dtype="float32"):
    consumers = BM // 64
    tiles_m, tiles_n, tiles_k = ceil_div(M, BM), ceil_div(N, BN), ceil_div(K, BK)
    ctas = min(ctas, tiles_m * tiles_n)
    size = DataType(dtype).bits // 8
    tf32 = {"is_AB_tf32": True} if dtype == "float32" else {}
    regs = {2: (40, 232), 3: (32, 160)}.get(consumers, (None, None))

    @T.prim_func
    def gemm(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, K), dtype)
        B = T.match_buffer(B_ptr, (N, K), dtype)
        D = T.match_buffer(D_ptr, (M, N), out)
        T.device_entry()
        cta = T.cta_id([ctas])
        wg = T.warpgroup_id([consumers + 1])
        warp = T.warp_id_in_wg([4])
        lane = T.lane_id([32])
        pool = T.SMEMPool()
        A_s = pool.alloc((stages, BM, BK), dtype, align=1024,
                         layout=mma_shared_layout(dtype, "128B", (stages, BM, BK)))
        B_s = pool.alloc((stages, BN, BK), dtype, align=1024,
                         layout=mma_shared_layout(dtype, "128B", (stages, BN, BK)))
        D_s = pool.alloc((consumers, 64, chunk), out, align=1024,
                         layout=mma_shared_layout(out, "auto", (consumers, 64, chunk)))
        pipe = T.Pipeline(pool, stages, full="tma", empty="mbar", init_full=1, init_empty=consumers,
                          empty_phase_offset=1)
        pool.commit()
        T.ptx.fence.mbarrier_init()
        T.cuda.cta_sync()

        with T.WarpgroupRole(wg, consumers, regs=regs[0]):
            if warp == 0:
                if lane == 0:
                    at = T.PipelineState(stages, 0)
                    tiles = ClusterPersistentScheduler2D("tiles", tiles_m, tiles_n, ctas, group)
                    tiles.init(cta)
                    while tiles.valid():
                        m0 = T.meta_var(tiles.m_idx * BM)
                        n0 = T.meta_var(tiles.n_idx * BN)
                        for k in range(tiles_k):
                            pipe.empty.wait(at.stage, at.phase)
                            pipe.full.arrive(at.stage, tx_count=(BM + BN) * BK * size)
                            full = T.meta_var(pipe.full.ptr_to([at.stage]))
                            Tx.copy_async(A_s[at.stage, :, :], A[m0 : m0 + BM, k * BK : k * BK + BK],
                                          mbar=full, fill_value=0)
                            Tx.copy_async(B_s[at.stage, :, :], B[n0 : n0 + BN, k * BK : k * BK + BK],
                                          mbar=full, fill_value=0)
                            at.advance()
                        tiles.next_tile()

        with T.WarpgroupRole(wg, (0, consumers), regs=regs[1], increase=True):
            acc = T.alloc_buffer((64, BN), acc_dtype, scope="local",
                                 layout=wgmma_tile_layout("D", (64, BN), acc_dtype))
            half = T.alloc_buffer((64, chunk), out, scope="local",
                                  layout=wgmma_tile_layout("D", (64, chunk), out))
            mine = T.meta_var(wg if consumers > 1 else 0)
            row = T.meta_var(mine * 64)
            at = T.PipelineState(stages, 0)
            read = T.PipelineState(stages, 0)
            tiles = ClusterPersistentScheduler2D("tiles", tiles_m, tiles_n, ctas, group)
            tiles.init(cta)
            while tiles.valid():
                for k in range(tiles_k):
                    pipe.full.wait(at.stage, at.phase)
                    T.ptx.wgmma.fence()
                    Tx.wg.gemm_async(acc, A_s[at.stage, row : row + 64, :], B_s[at.stage, :, :],
                                     accum=k > 0, **tf32)
                    T.ptx.wgmma.commit_group()
                    T.ptx.wgmma.wait_group(1)
                    if k > 0:
                        if warp == 0:
                            if lane == 0:
                                pipe.empty.arrive(read.stage)
                        read.advance()
                    at.advance()
                T.ptx.wgmma.wait_group(0)
                if warp == 0:
                    if lane == 0:
                        pipe.empty.arrive(read.stage)
                read.advance()
                m0 = T.meta_var(T.max(tiles.m_idx, 0) * BM + row)  # known not to begin before D
                n0 = T.meta_var(T.max(tiles.n_idx, 0) * BN)
                for j in T.unroll(BN // chunk):
                    # The store before has read the chunk.
                    if warp == 0:
                        if lane == 0:
                            T.ptx.cp_async.bulk.wait_group(0, read=True)
                    T.cuda.warpgroup_sync(wg + 1)
                    Tx.wg.cast(half, acc[:, j * chunk : j * chunk + chunk])
                    Tx.wg.copy(D_s[mine, :, :], half)
                    T.ptx.fence.proxy_async("shared::cta")
                    T.cuda.warpgroup_sync(wg + 1)
                    if warp == 0:
                        if lane == 0:
                            Tx.copy_async(D[m0 : m0 + 64, n0 + j * chunk : n0 + j * chunk + chunk],
                                          D_s[mine, :, :], clip=True)
                            T.ptx.cp_async.bulk.commit_group()
                tiles.next_tile()
            if warp == 0:
                if lane == 0:
                    T.ptx.cp_async.bulk.wait_group(0, read=False)

    return gemm


kernel = build()
