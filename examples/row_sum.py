# Sum has the sum of each row of A, Max the greatest element of it. A row lies in 4 lanes: each adds up
# what it holds, then the lanes fold their parts by two shuffles, and all four have the result.
#
#   warpwright run examples/row_sum.py --expect 'Sum ~= sum(A, 1)' --expect 'Max == max(A, axis=1)'
#   warpwright explain examples/row_sum.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import reduced_layout, row_layout


def build(m=256, n=64, rows=64, dtype="float32"):
    # Thread t holds columns t%4 * n/4 to t%4 * n/4 + n/4-1 of row t/4 of the tile.
    tile = row_layout((rows, n), rows * 4)
    # One number for each row, in the four lanes that hold it.
    of_rows = reduced_layout(tile, (rows, n), 1)

    @T.prim_func
    def row_sum(A_ptr: T.handle, Sum_ptr: T.handle, Max_ptr: T.handle):
        A = T.match_buffer(A_ptr, (m, n), dtype)
        Sum = T.match_buffer(Sum_ptr, (m,), dtype)
        Max = T.match_buffer(Max_ptr, (m,), dtype)
        T.device_entry()
        bx = T.cta_id([m // rows])
        T.thread_id([rows * 4])
        a = T.alloc_buffer((rows, n), dtype, scope="local", layout=tile)
        total = T.alloc_buffer((rows,), dtype, scope="local", layout=of_rows)
        most = T.alloc_buffer((rows,), dtype, scope="local", layout=of_rows)
        Tx.cta.copy(a[:, :], A[bx * rows : bx * rows + rows, :])
        Tx.cta.sum(total, a)
        Tx.cta.max(most, a)
        Tx.cta.copy(Sum[bx * rows : bx * rows + rows], total)
        Tx.cta.copy(Max[bx * rows : bx * rows + rows], most)

    return row_sum


kernel = build()
