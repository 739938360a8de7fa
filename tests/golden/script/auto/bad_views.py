from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer((1024,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_local((1024,), "float32", layout="auto")
    a = x.view(32, 32)
    b = x.local()
    c = T.decl_buffer((1024,), "float32", data=x.data, scope="local")
    d = T.alloc_local((1024,), "float32", layout=x.layout)
    e = T.alloc_local((8,), "float32")
    g = T.decl_buffer((1024,), "float32", data=e.data, scope="local", layout="auto")
    Tx.cta.copy(x, X)
#--- expected
bad_views.py:11:9: error: `view` of `x`, whose layout is inferred after the kernel is read [BadBuffer]
        a = x.view(32, 32)
            ^~~~~~~~~~~~~~
bad_views.py:10:9: note: write its layout in the place of "auto"; `warpwright explain` prints what is inferred
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_views.py:12:9: error: `local` without its extents of `x`, whose layout is inferred after the kernel is read [BadBuffer]
        b = x.local()
            ^~~~~~~~~
bad_views.py:10:9: note: write its layout in the place of "auto"; `warpwright explain` prints what is inferred
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `local(n)` can be had: n registers of a thread
bad_views.py:13:48: error: `data` of `x`, whose layout is inferred after the kernel is read [BadBuffer]
        c = T.decl_buffer((1024,), "float32", data=x.data, scope="local")
                                                   ^~~~~~
bad_views.py:10:9: note: write its layout in the place of "auto"; `warpwright explain` prints what is inferred
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_views.py:14:50: error: `layout` of `x`, whose layout is inferred after the kernel is read [BadBuffer]
        d = T.alloc_local((1024,), "float32", layout=x.layout)
                                                     ^~~~~~~~
bad_views.py:10:9: note: write its layout in the place of "auto"; `warpwright explain` prints what is inferred
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_views.py:16:9: error: `layout="auto"` for a view of storage in "local" [BadBuffer]
        g = T.decl_buffer((1024,), "float32", data=e.data, scope="local", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: allocate the tile, `T.alloc_local(…, layout="auto")`, or write its layout
