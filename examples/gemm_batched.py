# D[b] = A[b] @ B[b] for a batch of small matrices in bfloat16: one CTA of four warps per tile, the
# third dimension of the grid goes over the batch.
#
# A short kernel to start from: operands are staged by ordinary tile copies, and `stage=True` lets
# the matrix product fetch its fragments from shared memory itself (ldmatrix).
#
#   warpwright run examples/gemm_batched.py --expect 'D ~= A @ B'
#   warpwright explain examples/gemm_batched.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import mma_shared_layout, mma_tile_layout


def build(batch=4, M=64, N=64, K=128, dtype="bfloat16"):
    BM, BN, BK = 64, 64, 64
    swizzled = mma_shared_layout(dtype, "auto", (64, 64))
    # Four warps, 2 x 2, of 32 x 32 each.
    d_frag = mma_tile_layout("D", (64, 64), "float32", warps=(2, 2))

    @T.prim_func
    def gemm(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, (batch, M, K), dtype)
        B = T.match_buffer(B_ptr, (batch, K, N), dtype)
        D = T.match_buffer(D_ptr, (batch, M, N), "float32")
        T.device_entry()
        bn, bm, b = T.cta_id([N // BN, M // BM, batch])
        T.warp_id([4])
        T.lane_id([32])
        A_s = T.alloc_buffer((BM, BK), dtype, scope="shared", layout=swizzled)
        B_s = T.alloc_buffer((BK, BN), dtype, scope="shared", layout=swizzled)
        acc = T.alloc_buffer((BM, BN), "float32", scope="local", layout=d_frag)
        acc_reg = acc.local(32)
        for i in T.unroll(32):
            acc_reg[i] = T.float32(0)
        for t in T.serial(K // BK):
            Tx.cta.copy(A_s[:, :], A[b, bm * BM : bm * BM + BM, t * BK : t * BK + BK])
            Tx.cta.copy(B_s[:, :], B[b, t * BK : t * BK + BK, bn * BN : bn * BN + BN])
            T.cuda.cta_sync()
            Tx.cta.gemm(acc, A_s[:, :], B_s[:, :], acc, beta=1.0, stage=True)
            T.cuda.cta_sync()
        Tx.cta.copy(D[b, bm * BM : bm * BM + BM, bn * BN : bn * BN + BN], acc[:, :])

    return gemm


kernel = build()
