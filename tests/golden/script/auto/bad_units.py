from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer((64, 64), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_local((64, 64), "float32", layout="auto")
    Tx.cta.copy(x, X)
    Tx.warp.exp(x, x)
    Tx.cta.copy(X, x)
#--- expected
bad_units.py:10:9: error: `layout="auto"` of `x`: two uses share it among different threads [BadBuffer]
        x = T.alloc_local((64, 64), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_units.py:11:5: note: `Tx.cta.copy`: all threads of a cta
        Tx.cta.copy(x, X)
        ^~~~~~~~~~~~~~~~~
bad_units.py:12:5: note: `Tx.warp.exp`: all threads of a warp
        Tx.warp.exp(x, x)
        ^~~~~~~~~~~~~~~~~
  note: write the layout that both take, or use two buffers
