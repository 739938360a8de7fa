# One warp multiplies float16 matrices, D[16,8] = A[16,16] @ B[16,8], with float32 sums: one m16n8k16
# instruction.
#
#   warpwright run examples/basics/gemm.py --device eval --expect 'D_g ~= A_g @ B_g'
from tvm.tirx.layout import S, TileLayout, laneid

D_FRAG    = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])
A_FRAG_K8 = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])
B_FRAG_K8 = TileLayout(S[(4, 2, 8) : (1 @ laneid, 1, 4 @ laneid)])
A_FRAG = A_FRAG_K8.tile_to([16, 16], [16, 8]); B_FRAG = B_FRAG_K8.tile_to([16, 8], [8, 8])

@T.prim_func
def gemm(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
    A_g = T.match_buffer(A_ptr, (16, 16), "float16"); B_g = T.match_buffer(B_ptr, (16, 8), "float16")
    D_g = T.match_buffer(D_ptr, (16, 8), "float32")
    T.device_entry(); T.cta_id([1]); T.warp_id([1]); lane = T.lane_id([32])
    A_f = T.alloc_buffer((16, 16), "float16", scope="local", layout=A_FRAG)
    B_f = T.alloc_buffer((16, 8),  "float16", scope="local", layout=B_FRAG)
    D_f = T.alloc_buffer((16, 8),  "float32", scope="local", layout=D_FRAG)
    A_reg = A_f.local(8)                              # stage A into the lane's 8 regs
    for s in T.unroll(8):
        kp, kHi, rM = s % 2, (s // 2) % 2, s // 4
        A_reg[s] = A_g[lane // 4 + 8 * rM, 2 * (lane % 4) + kp + 8 * kHi]
    B_reg = B_f.local(4)                              # stage B into the lane's 4 regs
    for s in T.unroll(4):
        kp, kHi = s % 2, s // 2
        B_reg[s] = B_g[2 * (lane % 4) + kp + 8 * kHi, lane // 4]
    Tx.warp.gemm(D_f, A_f, B_f, D_f, transpose_A=False, transpose_B=False, alpha=1.0, beta=0.0)
    D_reg = D_f.local(4)                              # write the 4 result regs out
    for s in T.unroll(4):
        rN, rM = s % 2, s // 2
        D_g[lane // 4 + 8 * rM, 2 * (lane % 4) + rN] = D_reg[s]
