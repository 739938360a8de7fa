from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    a0 = A.local()
    a1 = r.local(8)
    a2 = r.local(2, 3)
#--- expected
bad_locals.py:9:10: error: `local` of `A`, which is in "global" [BadBuffer]
        a0 = A.local()
             ^~~~~~~~~
bad_locals.py:5:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_locals.py:10:10: error: `local` of 8 elements over `r`, of which a thread holds 4 [NotAdmitted]
        a1 = r.local(8)
             ^~~~~~~~~~
bad_locals.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_locals.py:11:10: error: `local` of 6 elements over `r`, of which a thread holds 4 [NotAdmitted]
        a2 = r.local(2, 3)
             ^~~~~~~~~~~~~
bad_locals.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
