# Adds the sum of each column of X to Sum, in float32. A block takes 16 bytes of a row for each of its
# threads, and goes down `height` rows with them, `rows` at a time; its sums stay in registers. Blocks one
# below the other add to the same elements of Sum, in any order. The compiler infers the layouts.
#
#   warpwright run examples/rows/column_sum.py --arg Sum=zeros --expect 'Sum ~= sum(X, 0)'
#   warpwright run examples/rows/column_sum.py --kernel 'build(m=123, n=999, dtype="float32")' --arg Sum=ones --expect 'Sum ~= sum(X, 0) + 1'
#   warpwright explain examples/rows/column_sum.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(m=128, n=1024, dtype="bfloat16", threads=128, rows=None, height=None):
    assert 0 < m <= 2**30 and 0 < n <= 2**30, "1 to 2**30 rows of 1 to 2**30 elements"
    vec = 4 if dtype == "float32" else 8  # elements in 16 bytes
    rows = rows or 2 * vec
    height = height or (256 if dtype == "float32" else 1024)
    width = threads * vec
    across = (n + width - 1) // width

    @T.prim_func
    def column_sum(X: T.Buffer((m, n), dtype), Sum: T.Buffer((n,), "float32")):
        T.device_entry()
        cta = T.cta_id([(m + height - 1) // height * across])
        thread = T.thread_id([threads])
        row: T.let = cta // across * height
        column: T.let = cta % across * width
        x = T.alloc_local((rows, width), dtype, layout="auto")
        f = T.alloc_local((rows, width), "float32", layout="auto")
        total = T.alloc_local((width,), "float32", layout="auto")
        Tx.cta.zero(total)
        for k in T.serial(height // rows):
            at = T.meta_var(row + k * rows)
            Tx.cta.copy(x, X[at : at + rows, column : column + width], fill_value=0)
            Tx.cta.cast(f, x)
            Tx.cta.sum(total, f, axes=0, accum=True)
        for i in T.unroll(vec):
            own: T.let = column + thread * vec + i
            if own < n:
                T.ptx["red.global.add.f32"](Sum.ptr_to([own]), total.local(vec)[i])

    return column_sum


kernel = build()
