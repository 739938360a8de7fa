from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    u = T.decl_buffer((128, 8), "float32", scope="tmem", layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))
    v = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0)
    w = T.decl_buffer((128, 600), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 600) : (1 @ TLane, 1 @ TCol)]))
#--- expected
bad_tmem.py:8:9: error: `u` is in tensor memory and has no address, expected `allocated_addr=` [BadBuffer]
        u = T.decl_buffer((128, 8), "float32", scope="tmem", layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tmem.py:9:9: error: `v` is in tensor memory and has no layout over `TLane` and `TCol` [BadBuffer]
        v = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tmem.py:10:9: error: `w` takes 600 columns of tensor memory, which has 512 [BadBuffer]
        w = T.decl_buffer((128, 600), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 600) : (1 @ TLane…
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
