from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_local((4, 4), "float32", layout="nonsense")
    t = T.alloc_local((4, 4), "float32", layout=4)
#--- expected
bad_layout_value.py:8:49: error: `nonsense` is not a declared variable [UnknownName]
        s = T.alloc_local((4, 4), "float32", layout="nonsense")
                                                    ^~~~~~~~~~
  note: `"auto"` infers the layout, `"default"` is row-major; other texts are layouts, such as `"S[(8,8):(8,1)]"`
bad_layout_value.py:9:49: error: `layout` is int, expected a layout [BadType]
        t = T.alloc_local((4, 4), "float32", layout=4)
                                                    ^
