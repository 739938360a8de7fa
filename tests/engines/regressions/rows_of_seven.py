# Rows of seven in steps of eight: nvcc loads the last three of each row as four, and those of the
# last row reach past what the tile needs.
# target sm_88
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tid_in_wg


@T.prim_func
def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (256, 7), "float32")
    o = T.match_buffer(o_ptr, (256, 7), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warpgroup_id([1])
    T.thread_id([128])
    r = T.alloc_buffer((256, 7), "float32", scope="local",
                       layout=TileLayout(S[(2, 128, 7) : (7, 1 @ tid_in_wg, 1)]))
    s = T.alloc_buffer((256, 7), "float32", scope="shared", layout=TileLayout(S[(256, 7) : (8, 1)]))
    Tx.cta.copy(s[0:256, 0:7], a[0:256, 0:7])
    T.cuda.cta_sync()
    Tx.wg.copy(r[0:256, 0:7], s[0:256, 0:7])
    Tx.wg.copy(o[0:256, 0:7], r[0:256, 0:7])
