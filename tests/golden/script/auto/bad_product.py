from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A: T.Buffer((24, 16), "float16"), B: T.Buffer((16, 24), "float16")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    a = T.alloc_local((24, 16), "float16", layout="auto")
    b = T.alloc_local((16, 24), "float16", layout="auto")
    d = T.alloc_local((24, 24), "float32", layout="auto")
    Tx.cta.copy(a, A)
    Tx.cta.copy(b, B)
    Tx.cta.gemm(d, a, b, d)
#--- expected
bad_product.py:10:9: error: `layout="auto"` of `a`: no use says which threads hold what [BadBuffer]
        a = T.alloc_local((24, 16), "float16", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_product.py:15:5: note: `Tx.cta.gemm`: no grid of 4 warps has fragments of `d`: shape (24,24) has 24 rows; operand D over 4 warps takes multiples of 64
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
bad_product.py:11:9: error: `layout="auto"` of `b`: no use says which threads hold what [BadBuffer]
        b = T.alloc_local((16, 24), "float16", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_product.py:15:5: note: `Tx.cta.gemm`: no grid of 4 warps has fragments of `d`: shape (24,24) has 24 rows; operand D over 4 warps takes multiples of 64
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
bad_product.py:12:9: error: `layout="auto"` of `d`: no use says which threads hold what [BadBuffer]
        d = T.alloc_local((24, 24), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_product.py:15:5: note: `Tx.cta.gemm`: no grid of 4 warps has fragments of `d`: shape (24,24) has 24 rows; operand D over 4 warps takes multiples of 64
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
