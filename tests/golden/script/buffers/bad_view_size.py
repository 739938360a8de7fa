# A view must lie inside the storage it views.
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A: T.Buffer((16,), "float32")):
    T.device_entry()
    tid = T.thread_id([32])
    regs = T.alloc_local((8,), "float16")
    frag = regs.view(32, 16, layout=TileLayout(S[(32, 16) : (1 @ laneid, 1)]))
    part = T.decl_buffer((8,), "float16", data=regs.data, elem_offset=4, scope="local")
    fits = T.decl_buffer((4,), "float16", data=regs.data, elem_offset=4, scope="local")
    twice = T.decl_buffer((32,), "float32", data=A.data)
#--- expected
bad_view_size.py:10:12: error: `frag` reaches bytes 0 to 31 of `regs`, which has 16 in each thread [BadBuffer]
        frag = regs.view(32, 16, layout=TileLayout(S[(32, 16) : (1 @ laneid, 1)]))
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_view_size.py:9:12: note: declared here
        regs = T.alloc_local((8,), "float16")
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_view_size.py:11:12: error: `part` reaches bytes 8 to 23 of `regs`, which has 16 in each thread [BadBuffer]
        part = T.decl_buffer((8,), "float16", data=regs.data, elem_offset=4, scope="local")
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_view_size.py:9:12: note: declared here
        regs = T.alloc_local((8,), "float16")
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_view_size.py:13:13: error: `twice` reaches bytes 0 to 127 of `A`, which has 64 [BadBuffer]
        twice = T.decl_buffer((32,), "float32", data=A.data)
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_view_size.py:6:12: note: declared here
    def kernel(A: T.Buffer((16,), "float32")):
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
