# No axes at all.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    a = T.alloc_buffer((8, 4, 6), "float32", scope="shared")
    Tx.warp.sum(a, a, axes=())
#--- expected
bad_reduce_no_axes.py:13:28: error: `axes` has no numbers, expected one or more [BadTileCall]
        Tx.warp.sum(a, a, axes=())
                               ^~
