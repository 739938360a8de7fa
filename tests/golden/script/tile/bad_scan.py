# Axes that are not there, or several; types and shapes that do not fit.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    a = T.alloc_buffer((8, 4), "float32", scope="shared")
    b = T.alloc_buffer((8, 4), "float16", scope="shared")
    c = T.alloc_buffer((8, 4), "bool", scope="shared")
    d = T.alloc_buffer((8,), "float32", scope="shared")
    Tx.warp.cumsum(a, a, axis=2)
    Tx.warp.cumsum(a, a, axis=(0, 1))
    Tx.warp.cumsum(b, a)
    Tx.warp.cummax(c, c)
    Tx.warp.cumsum(d, a)
#--- expected
bad_scan.py:16:5: error: `cumsum` over axis 2 of (8, 4) of `a`, which has 2 axes [BadTileCall]
        Tx.warp.cumsum(a, a, axis=2)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_scan.py:17:5: error: `cumsum` along axes 0, 1, expected one [BadTileCall]
        Tx.warp.cumsum(a, a, axis=(0, 1))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_scan.py:18:5: error: `cumsum` with `float16` of `b` and `float32` of `a`, expected one element type [BadTileCall]
        Tx.warp.cumsum(b, a)
        ^~~~~~~~~~~~~~~~~~~~
bad_scan.py:19:5: error: `cummax` of `c`, which holds `bool`, expected numbers [BadTileCall]
        Tx.warp.cummax(c, c)
        ^~~~~~~~~~~~~~~~~~~~
  note: `cast` makes 0 and 1 of conditions
bad_scan.py:20:5: error: `cumsum` of (8, 4) of `a` into (8) of `d`; the extents other than 1 differ [BadTileCall]
        Tx.warp.cumsum(d, a)
        ^~~~~~~~~~~~~~~~~~~~
