from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(Y: T.Buffer((64, 64), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_local((64, 64), "float32", layout="auto")
    y = T.alloc_local((64, 64), "float32", layout="auto")
    unused = T.alloc_local((64, 64), "float32", layout="auto")
    Tx.cta.fill(x, 1.0)
    Tx.cta.add(y, x, x)
#--- expected
bad_silent.py:10:9: error: `layout="auto"` of `x`: no use says which threads hold what [BadBuffer]
        x = T.alloc_local((64, 64), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_silent.py:13:5: note: `Tx.cta.fill` takes any layout
        Tx.cta.fill(x, 1.0)
        ^~~~~~~~~~~~~~~~~~~
bad_silent.py:14:5: note: `Tx.cta.add` follows its other tiles, none of which has a layout
        Tx.cta.add(y, x, x)
        ^~~~~~~~~~~~~~~~~~~
  note: write a layout, such as `layout=coalesced_layout((64, 64), 128, "float32")`
bad_silent.py:11:9: error: `layout="auto"` of `y`: no use says which threads hold what [BadBuffer]
        y = T.alloc_local((64, 64), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_silent.py:14:5: note: `Tx.cta.add` follows its other tiles, none of which has a layout
        Tx.cta.add(y, x, x)
        ^~~~~~~~~~~~~~~~~~~
  note: write a layout, such as `layout=coalesced_layout((64, 64), 128, "float32")`
bad_silent.py:12:14: error: `layout="auto"` of `unused`: no tile primitive uses it [BadBuffer]
        unused = T.alloc_local((64, 64), "float32", layout="auto")
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: write a layout, such as `layout=coalesced_layout((64, 64), 128, "float32")`
