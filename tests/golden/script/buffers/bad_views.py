from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 6), "float16")
    a0 = r.view(5, -1)
    a1 = r.view(-1, -1)
    a2 = r.view(4, 4)
    a3 = r.view("float64")
    a4 = r.view(4, 6, layot=None)
    a5 = r.view(4, 8, layout=TileLayout(S[(4, 6) : (6, 1)]))
    a6 = r.view(0)
#--- expected
bad_views.py:9:10: error: 24 elements, no multiple of the 5 that the other extents take [Indivisible]
        a0 = r.view(5, -1)
             ^~~~~~~~~~~~~
bad_views.py:10:10: error: 2 extents of -1, expected one at most [BadExtent]
        a1 = r.view(-1, -1)
             ^~~~~~~~~~~~~~
bad_views.py:11:10: error: a view of 16 elements over `r`, which has 24 [NotAdmitted]
        a2 = r.view(4, 4)
             ^~~~~~~~~~~~
bad_views.py:8:9: note: declared here
        r = T.alloc_local((4, 6), "float16")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_views.py:12:10: error: a view of `r` as `float64`: 6 elements in the last dimension are not a multiple of 4 [Indivisible]
        a3 = r.view("float64")
             ^~~~~~~~~~~~~~~~~
bad_views.py:13:29: error: `view` has no parameter `layot` [BadArgument]
        a4 = r.view(4, 6, layot=None)
                                ^~~~
bad_views.py:14:10: error: a layout of 24 elements for a view of 32 [NotAdmitted]
        a5 = r.view(4, 8, layout=TileLayout(S[(4, 6) : (6, 1)]))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_views.py:15:10: error: an extent of 0, expected 1 or more [BadExtent]
        a6 = r.view(0)
             ^~~~~~~~~
