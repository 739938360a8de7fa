from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer(("n",), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_shared((n,), "float32", layout="auto")
    Tx.cta.copy(x, X)
    large = T.alloc_local((65536, 65536), "float32", layout="auto")
    Tx.cta.fill(large, 1.0)
#--- expected
bad_extent.py:10:9: error: `layout="auto"` of `x`: an extent is known at run time only [BadBuffer]
        x = T.alloc_shared((n,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: give the tile extents that are constants
bad_extent.py:12:13: error: `layout="auto"` of `large`: more elements than a tile can have [BadBuffer]
        large = T.alloc_local((65536, 65536), "float32", layout="auto")
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
