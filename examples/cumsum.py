# B has the running sums of the rows of A, which may be of any length: a block takes a row in tiles of
# 1024, and hands the sum so far from tile to tile. The row need not end where a tile does.
#
#   warpwright run examples/cumsum.py --expect 'B[:, 0] == A[:, 0]' --expect 'B[:, 2999] ~= sum(A, 1)'
#   warpwright explain examples/cumsum.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, tx


def build(m=4, n=3000, threads=256, each=4, dtype="float32"):
    tile = threads * each
    # Thread t holds the elements 4 t to 4 t + 3 of the tile: it adds up those, lanes and warps the rest.
    row = TileLayout(S[(threads, each) : (1 @ tx, 1)])
    # One number, in all threads.
    one = TileLayout(S[1] + R[threads : 1 @ tx])

    @T.prim_func
    def cumsum(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (m, n), dtype)
        B = T.match_buffer(B_ptr, (m, n), dtype)
        T.device_entry()
        bx = T.cta_id([m])
        T.thread_id([threads])
        a = T.alloc_buffer((tile,), dtype, scope="local", layout=row)
        b = T.alloc_buffer((tile,), dtype, scope="local", layout=row)
        so_far = T.alloc_buffer((1,), dtype, scope="local", layout=one)
        Tx.cta.zero(so_far)
        for k in range((n + tile - 1) // tile):
            # What is behind the end of the row is 0, and is not written.
            Tx.cta.copy(a, A[bx, k * tile : k * tile + tile], fill_value=0)
            Tx.cta.cumsum(b, a)
            Tx.cta.add(b, b, so_far)
            Tx.cta.copy(B[bx, k * tile : k * tile + tile], b, clip=True)
            Tx.cta.sum(so_far, a, accum=True)

    return cumsum


kernel = build()
