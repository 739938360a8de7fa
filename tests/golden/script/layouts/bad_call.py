from tvm.tirx.layout import S, TileLayout
layout = TileLayout(S((8, 4), (4, 1)))

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    block = T.cta_id([2])
    t = T.thread_id([32])
    A[t] = layout.size()
#--- expected
bad_call.py:10:12: error: this value is not known at compile time: a layout is written with brackets, not called [Opaque]
        A[t] = layout.size()
               ^~~~~~~~~~~~~
