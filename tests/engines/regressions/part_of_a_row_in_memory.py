# Only some threads hold elements of the part: the others neither read nor write.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(a_ptr: T.handle, b_ptr: T.handle, o_ptr: T.handle, p_ptr: T.handle):
    a = T.match_buffer(a_ptr, (4, 64), "float32")
    b = T.match_buffer(b_ptr, (4, 64), "float32")
    o = T.match_buffer(o_ptr, (4, 64), "float32")
    p = T.match_buffer(p_ptr, (4, 64), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    r = T.alloc_buffer((4, 64), "float32", scope="local",
                       layout=TileLayout(S[(2, 2, 16, 4) : (1, 16 @ laneid, 1 @ laneid, 2)]))
    s = T.alloc_buffer((4, 64), "float32", scope="shared")
    Tx.warp.copy(r, a)
    Tx.warp.copy(s, b)
    T.cuda.warp_sync()
    Tx.warp.sub(r[:, 0:36], s[:, 0:36], r[:, 0:36])
    Tx.warp.minimum(s[:, 0:1], s[:, 0:1], r[:, 0:1])
    Tx.warp.copy(o, r)
    Tx.warp.copy(p, s)
