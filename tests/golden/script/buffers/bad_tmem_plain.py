from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    t = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))
    A[0, 0] = t[tx, 0]
    t[0, 0] = 1.0
#--- expected
bad_tmem_plain.py:9:15: error: an element of `t` is accessed, which is in tensor memory; only tcgen05 reaches it [BadBuffer]
        A[0, 0] = t[tx, 0]
                  ^~~~~~~~
bad_tmem_plain.py:8:9: note: declared here
        t = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 …
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tmem_plain.py:10:5: error: an element of `t` is accessed, which is in tensor memory; only tcgen05 reaches it [BadBuffer]
        t[0, 0] = 1.0
        ^~~~~~~~~~~~~
bad_tmem_plain.py:8:9: note: declared here
        t = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 …
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
