# Axes that are none, or were not imported.
from tvm.tirx.layout import R, S, TileLayout, tid

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    t = T.thread_id([32])
    a0 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ 32,)]))
    a1 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ lane,)]))
    a2 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ laneid,)]))
    a3 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ tid,)]))
    a4 = T.alloc_local((32, 2), "float32", layout=TileLayout(S[(32, 2), (2, 1)]))
    a5 = T.alloc_local((32, 2), "float32", layout=TileLayout(S[(32, 2) : 2]))
#--- expected
bad_axes.py:9:71: error: `@` of int and int [BadType]
        a0 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ 32,)]))
                                                                          ^~~~~~
  note: `stride @ axis` places elements; axes are tx, laneid, warpid, wgid, tid_in_wg, wid_in_wg, TLane, TCol, of tvm.tirx.layout
bad_axes.py:10:75: error: `lane` has no value here; did you mean `len`? [UnknownName]
        a1 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ lane,)]))
                                                                              ^~~~
  note: `stride @ axis` places elements; axes are tx, laneid, warpid, wgid, tid_in_wg, wid_in_wg, TLane, TCol, of tvm.tirx.layout
bad_axes.py:11:75: error: `laneid` has no value here [UnknownName]
        a2 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ laneid,)]))
                                                                              ^~~~~~
  note: `from tvm.tirx.layout import laneid` brings it
bad_axes.py:12:60: error: this value is not known at compile time: `tvm.tirx.layout` has no `tid`; did you mean `wgid`? [Opaque]
        a3 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ tid,)]))
                                                               ^~~~~~~~~~~~~~~~~~~~~
bad_axes.py:2:47: note: it comes from here
    from tvm.tirx.layout import R, S, TileLayout, tid
                                                  ^~~
bad_axes.py:13:62: error: found a comma between two tuples, expected `extents : strides` [Syntax]
        a4 = T.alloc_local((32, 2), "float32", layout=TileLayout(S[(32, 2), (2, 1)]))
                                                                 ^~~~~~~~~~~~~~~~~~
bad_axes.py:14:62: error: 2 extents and 1 stride [CountMismatch]
        a5 = T.alloc_local((32, 2), "float32", layout=TileLayout(S[(32, 2) : 2]))
                                                                 ^~~~~~~~~~~~~~
