# Nobody comes to the innermost statements, which no single condition tells.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (64, 8), "float32")
    o = T.match_buffer(o_ptr, (64, 8), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([2])
    lane = T.lane_id([32])
    tid = T.thread_id([64])
    priv = T.alloc_buffer((8,), "float32", scope="local")
    Tx.copy(priv[0:8], a[tid, 0:8])
    if lane < 16:
        if tid % 58 == 0:
            if tid * 3 > 94:
                Tx.add(priv, priv, 3)
                Tx.maximum(priv, priv, priv)
                Tx.fill(priv, 3)
                Tx.copy(priv[0:8], a[tid, 0:8])
                Tx.copy(o[tid, 0:8], priv[0:8])
    Tx.copy(o[tid, 0:8], priv[0:8])
