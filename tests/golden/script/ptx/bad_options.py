@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx["mov.b32"](r[0], r[1], guard=tx < 3)
    T.ptx["mov.b32"](r[0], r[1], pred=A[0, 0])
    T.ptx[3](r[0])
    T.ptx.tcgen05.alloc(r.ptr_to([0]))
    T.ptx.tcgen05.ld(r[0], r[1], shap="32x32b")
#--- expected
bad_options.py:8:40: error: `mov.b32` has no option `guard`, expected `pred` or `keep` [BadArgument]
        T.ptx["mov.b32"](r[0], r[1], guard=tx < 3)
                                           ^~~~~~
bad_options.py:9:39: error: a condition of type `float32`, expected `bool` or an integer [BadType]
        T.ptx["mov.b32"](r[0], r[1], pred=A[0, 0])
                                          ^~~~~~~
bad_options.py:10:5: error: the opcode is int, expected a text [BadType]
        T.ptx[3](r[0])
        ^~~~~~~~
bad_options.py:11:5: error: `T.ptx.tcgen05.alloc` without `n_cols` [BadArgument]
        T.ptx.tcgen05.alloc(r.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (ptr, n_cols, cta_group?)
bad_options.py:12:39: error: `T.ptx.tcgen05.ld` and `.st` have no parameter `shap` [BadArgument]
        T.ptx.tcgen05.ld(r[0], r[1], shap="32x32b")
                                          ^~~~~~~~
