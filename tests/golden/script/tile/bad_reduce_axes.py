# Several axes at once.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    a = T.alloc_buffer((8, 4, 6), "float32", scope="shared")
    b = T.alloc_buffer((8,), "float32", scope="shared")
    Tx.warp.sum(b, a, axes=(1, 2))
#--- expected
bad_reduce_axes.py:14:29: error: `axes` has 2 numbers, expected one [BadTileCall]
        Tx.warp.sum(b, a, axes=(1, 2))
                                ^~~~
  note: a reduction over several axes is not taken: reduce one axis, then the next
