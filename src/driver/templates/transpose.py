# B is the transpose of A. A block takes a tile of 64 x 64 by whole rows into shared memory, turns it
# there, and writes it by whole rows.
#
#   {{run}} --expect 'B == A.T'
#   {{explain}}
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import ComposeLayout, S, SwizzleLayout, TileLayout, laneid, warpid


# A builder: `--kernel 'build(m=256, n=512)'` makes another kernel of it.
def build(m=128, n=128, dtype="float16"):
    tile, warps = 64, 4

    # Rows of 128 bytes. Without the swizzle the elements of a column would lie in few banks:
    # `warpwright explain` counts the wavefronts.
    shared = ComposeLayout(SwizzleLayout(3, 3, 3), TileLayout(S[(tile, tile) : (tile, 1)]))

    # The turned tile in registers, in blocks of 8 x 8 as ldmatrix and stmatrix have them: warp w
    # holds rows 16w to 16w+15; in a block, lane l holds two neighbours of row l / 4.
    registers = TileLayout(
        S[(warps, 2, 8, tile // 8, 4, 2) : (1 @ warpid, 2, 4 @ laneid, 4, 1 @ laneid, 1)])

    @T.prim_func
    def {{name}}(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (m, n), dtype)
        B = T.match_buffer(B_ptr, (n, m), dtype)
        T.device_entry()
        bx, by = T.cta_id([n // tile, m // tile])
        T.warp_id([warps])
        T.lane_id([32])
        staged = T.alloc_buffer((tile, tile), dtype, scope="shared", layout=shared)
        R = T.alloc_buffer((tile, tile), dtype, scope="local", layout=registers)
        row: T.let = by * tile
        column: T.let = bx * tile

        Tx.cta.copy(staged[:, :], A[row : row + tile, column : column + tile])
        T.cuda.cta_sync()
        turned = staged.permute(1, 0)  # the same memory, read by columns
        Tx.cta.copy(R[:, :], turned[:, :])
        T.cuda.cta_sync()
        Tx.cta.copy(staged[:, :], R[:, :])
        T.cuda.cta_sync()
        Tx.cta.copy(B[column : column + tile, row : row + tile], staged[:, :])

    return {{name}}


kernel = build()
