# The layouts, not the shapes, would say what is reduced.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, laneid


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    own = T.alloc_local([4], "float32")
    total = T.alloc_local([4], "float32")
    lanes = own.view(128, layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    sums = total.view(4, layout=TileLayout(S[4:1] + R[32 : 1 @ laneid]))
    Tx.warp.sum(sums, lanes)
#--- expected
bad_reduce_layouts.py:17:5: error: `sum` over axis -1 of (128) of `lanes` into (4) of `sums`; the other extents differ [BadTileCall]
        Tx.warp.sum(sums, lanes)
        ^~~~~~~~~~~~~~~~~~~~~~~~
  note: `axes` names what is reduced, lanes included: it is not read off the layouts
