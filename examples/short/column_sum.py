# Sum has the sum of each column of A, as in ../column_sum.py, with a layout that the compiler infers: as
# many threads as there are columns, one each.
#
#   warpwright run examples/short/column_sum.py --expect 'Sum ~= sum(A, 0)'
#   warpwright explain examples/short/column_sum.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=256, n=128, columns=32, rows=64, dtype="float32"):
    @T.prim_func
    def column_sum(A: T.Buffer((m, n), dtype), Sum: T.Buffer((n,), dtype)):
        T.device_entry()
        bx = T.cta_id([n // columns])
        T.thread_id([columns * 2])
        total = T.alloc_local((columns,), dtype, layout="auto")
        first = bx * columns
        Tx.cta.zero(total)
        for k in range(m // rows):
            Tx.cta.sum(total, A[k * rows : k * rows + rows, first : first + columns],
                       axes=0, accum=True)
        Tx.cta.copy(Sum[first : first + columns], total)

    return column_sum


kernel = build()
