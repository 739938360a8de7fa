# Sum has the sum of each row of A, Max the greatest element of it, as in ../row_sum.py, with layouts that
# the compiler infers: rows are reduced, so a few neighbours hold a row.
#
#   warpwright run examples/short/row_sum.py --expect 'Sum ~= sum(A, 1)' --expect 'Max == max(A, axis=1)'
#   warpwright explain examples/short/row_sum.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=256, n=64, rows=64, dtype="float32"):
    @T.prim_func
    def row_sum(A: T.Buffer((m, n), dtype), Sum: T.Buffer((m,), dtype), Max: T.Buffer((m,), dtype)):
        T.device_entry()
        bx = T.cta_id([m // rows])
        T.thread_id([rows * 4])
        a = T.alloc_local((rows, n), dtype, layout="auto")
        total = T.alloc_local((rows,), dtype, layout="auto")
        most = T.alloc_local((rows,), dtype, layout="auto")
        Tx.cta.copy(a, A[bx * rows : bx * rows + rows, :])
        Tx.cta.sum(total, a)
        Tx.cta.max(most, a)
        Tx.cta.copy(Sum[bx * rows : bx * rows + rows], total)
        Tx.cta.copy(Max[bx * rows : bx * rows + rows], most)

    return row_sum


kernel = build()
