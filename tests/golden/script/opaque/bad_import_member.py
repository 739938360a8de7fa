from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayot, laneid

LAYOUT = TileLayot(S[32 : 1 @ laneid])


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    R = T.alloc_buffer((32,), "float32", scope="local", layout=LAYOUT)
    Tx.warp.copy(R, B)
#--- expected
bad_import_member.py:14:64: error: this value is not known at compile time: `tvm.tirx.layout` has no `TileLayot`; did you mean `TileLayout`? [Opaque]
        R = T.alloc_buffer((32,), "float32", scope="local", layout=LAYOUT)
                                                                   ^~~~~~
bad_import_member.py:4:10: note: it comes from here
    LAYOUT = TileLayot(S[32 : 1 @ laneid])
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
