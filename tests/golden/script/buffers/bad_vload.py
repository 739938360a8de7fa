@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = A.vload([0, 0], "float16x4")
    A.vstore([0, 15], A.vload([0, 0], "float32x2"))
    y = A.vload([0, 14], "float32x4")
#--- expected
bad_vload.py:6:25: error: `vload` as `float16x4` from `A` of `float32` [BadType]
        x = A.vload([0, 0], "float16x4")
                            ^~~~~~~~~~~
  note: use `.view(dtype)` to read other elements
bad_vload.py:7:14: error: index 16 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        A.vstore([0, 15], A.vload([0, 0], "float32x2"))
                 ^~~~~~~
bad_vload.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_vload.py:8:17: error: index 17 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        y = A.vload([0, 14], "float32x4")
                    ^~~~~~~
bad_vload.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
