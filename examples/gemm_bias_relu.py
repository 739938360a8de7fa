# D = relu(A @ B + bias): the sums of a column start at its bias, and negative results become 0 while
# the tile is still in registers, so that only D is written. The pipeline is that of
# gemm_mma.py; M, N and K are multiples of the tile here.
#
#   warpwright run examples/gemm_bias_relu.py --expect 'D ~= max(A @ B + bias, 0)'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import mma_shared_layout, mma_tile_layout


def build(M=128, N=128, K=256, BM=128, BN=128, BK=64, WM=64, WN=64, stages=3, group=16,
          dtype="float16"):
    warps_m, warps_n = BM // WM, BN // WN
    tiles_m, tiles_n, tiles_k = M // BM, N // BN, K // BK
    steps = BK // 16
    count = WM * WN // 32  # sums per thread

    # Panels of rows of 64 elements, whose 16-byte pieces are permuted by the row's number.
    def panels(rows, columns, copies=1):
        return mma_shared_layout(dtype, "128B", (copies, rows, columns))

    a_frag = mma_tile_layout("A", (BM, BK), dtype, (warps_m, warps_n))
    b_frag = mma_tile_layout("B", (BK, BN), dtype, (warps_m, warps_n))
    d_frag = mma_tile_layout("D", (BM, BN), "float32", (warps_m, warps_n))

    @T.prim_func
    def gemm(A_ptr: T.handle, B_ptr: T.handle, bias_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, K), dtype)
        B = T.match_buffer(B_ptr, (K, N), dtype)
        bias = T.match_buffer(bias_ptr, (N,), "float32")
        D = T.match_buffer(D_ptr, (M, N), dtype)
        T.device_entry()
        cta = T.cta_id([tiles_m * tiles_n])
        warp = T.warp_id([warps_m * warps_n])
        lane = T.lane_id([32])
        pool = T.alloc_buffer((stages * (BM + BN) * BK,), dtype, scope="shared.dyn")
        A_s = T.decl_buffer((stages, BM, BK), dtype, data=pool.data, scope="shared.dyn",
                            layout=panels(BM, BK, stages))
        B_s = T.decl_buffer((stages, BK, BN), dtype, data=pool.data, elem_offset=stages * BM * BK,
                            scope="shared.dyn", layout=panels(BK, BN, stages))
        D_s = T.decl_buffer((BM, BN), dtype, data=pool.data, scope="shared.dyn", layout=panels(BM, BN))
        A_f = T.alloc_buffer((BM, BK), dtype, scope="local", layout=a_frag)
        B_f = T.alloc_buffer((BK, BN), dtype, scope="local", layout=b_frag)
        acc = T.alloc_buffer((BM, BN), "float32", scope="local", layout=d_frag)
        D_f = T.alloc_buffer((BM, BN), dtype, scope="local", layout=d_frag)
        bias_reg = T.alloc_buffer((WN // 4,), "float32", scope="local")
        acc_reg = acc.local(count)
        D_reg = D_f.local(count)

        band: T.let = cta // (group * tiles_n)
        height: T.let = T.min(tiles_m - band * group, group)
        m0: T.let = (band * group + cta % (group * tiles_n) % height) * BM
        n0: T.let = cta % (group * tiles_n) // height * BN

        @T.inline
        def load(slice, stage):
            k0 = T.meta_var(slice * BK)
            Tx.cta.copy_async(A_s[stage, :, :], A[m0 : m0 + BM, k0 : k0 + BK])
            Tx.cta.copy_async(B_s[stage, :, :], B[k0 : k0 + BK, n0 : n0 + BN])

        @T.inline
        def fetch(stage, k):
            Tx.cta.copy(A_f[:, k : k + 16], A_s[stage, :, k : k + 16])
            Tx.cta.copy(B_f[k : k + 16, :], B_s[stage, k : k + 16, :])

        column: T.let = n0 + warp // warps_m * WN + lane % 4 * 2
        for i in T.unroll(WN // 4):
            bias_reg[i] = bias[column + i // 2 * 8 + i % 2]
        for s in T.unroll(stages - 1):
            if s < tiles_k:
                load(s, s)
            T.ptx.cp_async.commit_group()

        # Sums of a thread, four by four for each n8 block: two columns, and the same eight rows below.
        for i in T.unroll(count):
            acc_reg[i] = bias_reg[i // 4 % (WN // 8) * 2 + i % 2]
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
                Tx.cta.gemm(acc, A_f[:, k * 16 : k * 16 + 16], B_f[k * 16 : k * 16 + 16, :], acc,
                            beta=1.0)

        T.ptx.cp_async.wait_group(0)
        T.cuda.cta_sync()
        for i in T.unroll(count):
            D_reg[i] = T.cast(T.max(acc_reg[i], T.float32(0)), dtype)
        Tx.cta.copy(D_s[:, :], D_f[:, :])
        T.cuda.cta_sync()
        Tx.cta.copy(D[m0 : m0 + BM, n0 : n0 + BN], D_s[:, :])

    return gemm


kernel = build()
