from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import row_layout


# The sums are in rows, which no instruction has.
@T.prim_func
def kernel(A: T.Buffer((64, 16), "float16")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    a = T.alloc_local((64, 16), "float16", layout="auto")
    b = T.alloc_local((16, 64), "float16", layout="auto")
    d = T.alloc_local((64, 64), "float32", layout=row_layout((64, 64), 128))
    Tx.cta.copy(a, A)
    Tx.cta.zero(b)
    Tx.cta.gemm(d, a, b, d)
#--- expected
bad_sums.py:12:9: error: `layout="auto"` of `a`: no use says which threads hold what [BadBuffer]
        a = T.alloc_local((64, 16), "float16", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_sums.py:17:5: note: `Tx.cta.gemm`: the layout that is written for the accumulator is of no grid of warps
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
bad_sums.py:13:9: error: `layout="auto"` of `b`: no use says which threads hold what [BadBuffer]
        b = T.alloc_local((16, 64), "float16", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_sums.py:17:5: note: `Tx.cta.gemm`: the layout that is written for the accumulator is of no grid of warps
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
