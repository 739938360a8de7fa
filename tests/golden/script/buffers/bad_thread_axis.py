from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    r[tx, 0] = 1.0
    A[0, 0] = r[0, 1]
    p = r.ptr_to([0, 0])
#--- expected
bad_thread_axis.py:9:5: error: an element of `r` is accessed, which is spread over `laneid`; a thread's part is `r.local()` [BadBuffer]
        r[tx, 0] = 1.0
        ^~~~~~~~~~~~~~
bad_thread_axis.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_thread_axis.py:10:15: error: an element of `r` is accessed, which is spread over `laneid`; a thread's part is `r.local()` [BadBuffer]
        A[0, 0] = r[0, 1]
                  ^~~~~~~
bad_thread_axis.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_thread_axis.py:11:9: error: an element of `r` is accessed, which is spread over `laneid`; a thread's part is `r.local()` [BadBuffer]
        p = r.ptr_to([0, 0])
            ^~~~~~~~~~~~~~~~
bad_thread_axis.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
