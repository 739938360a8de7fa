@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.decl_buffer((4,), "float32", data=tx)
    y = T.decl_buffer((4,), "float32", data=A.data, scope="shared")
    z = T.decl_buffer((4,), "float32", data=A.data, elem_offset=1, byte_offset=4)
#--- expected
bad_decl.py:6:45: error: `data` is `int32`, expected a pointer [BadType]
        x = T.decl_buffer((4,), "float32", data=tx)
                                                ^~
bad_decl.py:7:9: error: scope "shared" for a view of `A`, which is in "global" [BadBuffer]
        y = T.decl_buffer((4,), "float32", data=A.data, scope="shared")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_decl.py:8:9: error: `elem_offset` and `byte_offset` together [BadArgument]
        z = T.decl_buffer((4,), "float32", data=A.data, elem_offset=1, byte_offset=4)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
