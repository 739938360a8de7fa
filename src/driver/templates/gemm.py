# D = A @ B on tensor cores: float16 in, float32 sums. A block of four warps computes a tile of 64 x 64
# of D, from slices of A and B that are 32 deep.
#
#   {{run}} --expect 'D ~= A @ B'
#   {{explain}}
#
# It is written to be read. `warpwright examples show gemm_mma` has a fast one, which loads slices
# while it multiplies others and stores results in whole rows.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import ComposeLayout, R, S, SwizzleLayout, TileLayout, laneid, warpid


# A builder: `--kernel 'build(M=256, K=512)'` makes another kernel of it. Extents are multiples of
# the tile.
def build(M=128, N=128, K=128):
    BM, BN, BK = 64, 64, 32

    # Two by two warps; each has 32 x 32 of D. A fragment of m16n8k16 has element (row, column) in
    # lane 4 * (row % 8) + column % 8 / 2; what is left counts registers.
    d_frag = TileLayout(S[(2, 2, 2, 8, 2, 4, 4, 2) :
                          (1 @ warpid, 16, 2, 4 @ laneid, 2 @ warpid, 4, 1 @ laneid, 1)])
    # Rows of A are those of D, so that both warps beside each other hold the same (R: replicated).
    a_frag = TileLayout(S[(2, 2, 2, 8, BK // 16, 2, 4, 2) :
                          (1 @ warpid, 8, 2, 4 @ laneid, 16, 4, 1 @ laneid, 1)] + R[2 : 2 @ warpid])
    b_frag = TileLayout(S[(BK // 16, 2, 4, 2, 2, 4, 8) :
                          (16, 2, 1 @ laneid, 1, 2 @ warpid, 4, 4 @ laneid)] + R[2 : 1 @ warpid])
    # Swizzled, so that neither the copies nor ldmatrix have bank conflicts.
    a_shared = ComposeLayout(SwizzleLayout(3, 2, 3), TileLayout(S[(BM, BK) : (BK, 1)]))
    b_shared = ComposeLayout(SwizzleLayout(3, 3, 3), TileLayout(S[(BK, BN) : (BN, 1)]))

    @T.prim_func
    def {{name}}(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, K), "float16")
        B = T.match_buffer(B_ptr, (K, N), "float16")
        D = T.match_buffer(D_ptr, (M, N), "float32")
        T.device_entry()
        bx, by = T.cta_id([N // BN, M // BM])
        T.warp_id([4])
        T.lane_id([32])
        A_s = T.alloc_buffer((BM, BK), "float16", scope="shared", layout=a_shared)
        B_s = T.alloc_buffer((BK, BN), "float16", scope="shared", layout=b_shared)
        A_f = T.alloc_buffer((BM, BK), "float16", scope="local", layout=a_frag)
        B_f = T.alloc_buffer((BK, BN), "float16", scope="local", layout=b_frag)
        sums = T.alloc_buffer((BM, BN), "float32", scope="local", layout=d_frag)
        m: T.let = by * BM
        n: T.let = bx * BN

        Tx.cta.fill(sums[:, :], T.float32(0))
        for t in T.serial(K // BK):
            k: T.let = t * BK
            Tx.cta.copy(A_s[:, :], A[m : m + BM, k : k + BK])  # global -> shared
            Tx.cta.copy(B_s[:, :], B[k : k + BK, n : n + BN])
            T.cuda.cta_sync()
            Tx.cta.copy(A_f[:, :], A_s[:, :])  # shared -> registers: ldmatrix
            Tx.cta.copy(B_f[:, :], B_s[:, :])
            Tx.cta.gemm(sums, A_f, B_f, sums, beta=1.0)  # sums = A_f @ B_f + sums: mma.sync
            T.cuda.cta_sync()  # before the next slice overwrites this one
        Tx.cta.copy(D[m : m + BM, n : n + BN], sums[:, :])

    return {{name}}


kernel = build()
