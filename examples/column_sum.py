# Sum has the sum of each column of A. A block takes some columns, and all rows of them in tiles: of two
# warps that hold the same columns, each adds up half of a tile's rows, and shared memory of the
# compiler's own brings the halves together. The running sums stay in registers.
#
#   warpwright run examples/column_sum.py --expect 'Sum ~= sum(A, 0)'
#   warpwright explain examples/column_sum.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


def build(m=256, n=128, columns=32, rows=64, dtype="float32"):
    @T.prim_func
    def column_sum(A_ptr: T.handle, Sum_ptr: T.handle):
        A = T.match_buffer(A_ptr, (m, n), dtype)
        Sum = T.match_buffer(Sum_ptr, (n,), dtype)
        T.device_entry()
        bx = T.cta_id([n // columns])
        T.thread_id([columns * 2])
        # A column for each thread of the first warp.
        total = T.alloc_buffer((columns,), dtype, scope="local",
                               layout=TileLayout(S[columns : 1 @ tx]))
        first = bx * columns
        Tx.cta.zero(total)
        for k in range(m // rows):
            Tx.cta.sum(total, A[k * rows : k * rows + rows, first : first + columns],
                       axes=0, accum=True)
        Tx.cta.copy(Sum[first : first + columns], total)

    return column_sum


kernel = build()
