from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 4), "float32", layout=TileLayout(S[(4, 8) : (8, 1)]))
    u = T.alloc_local((4, 4), "float32", layout=TileLayout(S[(4, 4) : (1, 1)]))
    w = T.alloc_local((4,), "float32", layout=TileLayout(S[4 : 1] + -1))
    x = T.alloc_local((64, 2), "float32", layout=TileLayout(S[(64, 2) : (1 @ laneid, 1)]))
#--- expected
bad_layout_fit.py:8:9: error: the layout of `r` has 32 elements, its shape (4, 4) has 16 [BadBuffer]
        r = T.alloc_local((4, 4), "float32", layout=TileLayout(S[(4, 8) : (8, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a layout has no more elements than its buffer; TVM leaves the rest unused
bad_layout_fit.py:9:9: error: elements 1 and 4 of `u` share one place in the layout `S[(4,4):(1,1)]` [BadBuffer]
        u = T.alloc_local((4, 4), "float32", layout=TileLayout(S[(4, 4) : (1, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_layout_fit.py:10:9: error: an element of `w` lies at m -1, expected 0 or more [BadBuffer]
        w = T.alloc_local((4,), "float32", layout=TileLayout(S[4 : 1] + -1))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_layout_fit.py:11:9: error: `x` has elements at laneid 63, the launch goes from 0 to 31 [BadBuffer]
        x = T.alloc_local((64, 2), "float32", layout=TileLayout(S[(64, 2) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a CTA has 32 threads here: `tx` counts all of them, `laneid` the 32 of a warp, `warpid` the warps
