# Axes that are not there, or twice; types that do not fit.
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
    Tx.warp.sum(b, a, axes=(1, 3))
    Tx.warp.sum(b, a, axes=(1, -2))
    Tx.warp.sum(b, a, axes=(0, 1))
    Tx.warp.argmax(b, a, axes=(1, 2))
    Tx.warp.any(b, a, axes=(1, 2))
#--- expected
bad_reduce_axes.py:15:5: error: `sum` over axis 3 of (8, 4, 6) of `a`, which has 3 axes [BadTileCall]
        Tx.warp.sum(b, a, axes=(1, 3))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_reduce_axes.py:16:5: error: `sum` over axis -2 of (8, 4, 6) of `a` twice [BadTileCall]
        Tx.warp.sum(b, a, axes=(1, -2))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_reduce_axes.py:17:5: error: `sum` over axes 0, 1 of (8, 4, 6) of `a` into (8) of `b`; the other extents differ [BadTileCall]
        Tx.warp.sum(b, a, axes=(0, 1))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_reduce_axes.py:18:5: error: `argmax` into `b`, which holds `float32`, expected `int32` or `int64` [BadTileCall]
        Tx.warp.argmax(b, a, axes=(1, 2))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_reduce_axes.py:19:5: error: `any` of `a`, which holds `float32`, expected `bool` [BadTileCall]
        Tx.warp.any(b, a, axes=(1, 2))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `not_equal` with 0 makes conditions of numbers
