# B is the transpose of A, tile by tile: a tile comes in by rows, ldmatrix.trans turns its 8x8 blocks
# while it loads them into registers, stmatrix puts them back, and the tile goes out by rows.
#
#   warpwright run examples/transpose.py --expect 'B == A.T'
#   warpwright explain examples/transpose.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import ComposeLayout, S, SwizzleLayout, TileLayout, laneid, warpid


def build(m=128, n=128, tile=64, dtype="float16"):
    assert tile % 64 == 0 and m % tile == 0 and n % tile == 0, "tiles of a multiple of 64, which fill the matrix"
    # Rows of 128 bytes; the XOR swizzle spreads the rows of a column over all banks.
    shared = ComposeLayout(SwizzleLayout(3, 3, 3), TileLayout(S[(tile, tile // 64, 64) : (64, 64 * tile, 1)]))
    # Warp w holds rows 16w to 16w+15 of the transposed tile, in 8x8 blocks.
    warps = tile // 16
    registers = TileLayout(
        S[(warps, 2, 8, tile // 8, 4, 2) : (1 @ warpid, 2, 4 @ laneid, 4, 1 @ laneid, 1)])

    @T.prim_func
    def transpose(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (m, n), dtype)
        B = T.match_buffer(B_ptr, (n, m), dtype)
        T.device_entry()
        bx, by = T.cta_id([n // tile, m // tile])
        T.warp_id([warps])
        T.lane_id([32])
        staged = T.alloc_buffer((tile, tile), dtype, scope="shared", layout=shared)
        R = T.alloc_buffer((tile, tile), dtype, scope="local", layout=registers)
        Tx.cta.copy(staged[:, :], A[by * tile : by * tile + tile, bx * tile : bx * tile + tile])
        T.cuda.cta_sync()
        turned = staged.permute(1, 0)
        Tx.cta.copy(R[:, :], turned[:, :])
        T.cuda.cta_sync()
        Tx.cta.copy(staged[:, :], R[:, :])
        T.cuda.cta_sync()
        Tx.cta.copy(B[bx * tile : bx * tile + tile, by * tile : by * tile + tile], staged[:, :])

    return transpose


kernel = build()
