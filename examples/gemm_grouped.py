# Matrix products of different heights in one launch: group g is the rows offsets[g] to offsets[g + 1] of A
# and D, and D = A @ B[g] there. The offsets are read from memory, so the groups may have any number of
# rows, none too. `slots` blocks share the tiles of a group.
#
# `D_g` is D up to the end of the group: a view may have an extent that is known at run time only, and
# `clip=True` writes as much of the last tile as it has. Rows of the next group are multiplied, too, but
# not stored; what lies outside A or B is read as 0, so N and K need not be multiples of the tile.
#
#   warpwright run examples/gemm_grouped.py --arg offsets=list:0,100,100,133,300 --expect 'D[100:133] ~= A[100:133] @ B[2]'
#   warpwright explain examples/gemm_grouped.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import mma_shared_layout, mma_tile_layout


def build(groups=4, rows=300, N=96, K=128, slots=2, dtype="bfloat16", out="float32"):
    BM, BN, BK = 64, 64, 64
    swizzled = mma_shared_layout(dtype, "auto", (64, 64))
    # Four warps, 2 x 2, of 32 x 32 each.
    d_frag = mma_tile_layout("D", (64, 64), "float32", warps=(2, 2))

    @T.prim_func
    def gemm_grouped(A_ptr: T.handle, B_ptr: T.handle, offsets_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, (rows, K), dtype)
        B = T.match_buffer(B_ptr, (groups, K, N), dtype)
        offsets = T.match_buffer(offsets_ptr, (groups + 1,), "int32")
        D = T.match_buffer(D_ptr, (rows, N), out)
        T.device_entry()
        bn, slot, g = T.cta_id([(N + BN - 1) // BN, slots, groups])
        T.warp_id([4])
        T.lane_id([32])
        A_s = T.alloc_buffer((BM, BK), dtype, scope="shared", layout=swizzled)
        B_s = T.alloc_buffer((BK, BN), dtype, scope="shared", layout=swizzled)
        acc = T.alloc_buffer((BM, BN), "float32", scope="local", layout=d_frag)
        D_f = T.alloc_buffer((BM, BN), out, scope="local", layout=d_frag)
        end: T.let = offsets[g + 1]
        D_g = T.decl_buffer((end, N), out, data=D.data)
        n0: T.let = bn * BN
        for m0 in T.serial(offsets[g] + slot * BM, end, step=slots * BM):
            Tx.cta.zero(acc)
            for k0 in T.serial(0, K, step=BK):
                Tx.cta.copy(A_s, A[m0 : m0 + BM, k0 : k0 + BK], fill_value=0)
                Tx.cta.copy(B_s, B[g, k0 : k0 + BK, n0 : n0 + BN], fill_value=0)
                T.cuda.cta_sync()
                Tx.cta.gemm(acc, A_s, B_s, acc, beta=1.0, stage=True)
                T.cuda.cta_sync()
            Tx.cta.cast(D_f, acc)
            Tx.cta.copy(D_g[m0 : m0 + BM, n0 : n0 + BN], D_f, clip=True)

    return gemm_grouped


kernel = build()
