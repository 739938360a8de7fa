# Extents that follow from others are left out.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.cta_id([4])
    w = T.warp_id([4])
    ln = T.lane_id()
    tx = T.thread_id()
    wg = T.warpgroup_id()
    p = T.cta_id_in_pair()
    T.cta_id_in_cluster([2])
    A[wg, w] = T.cast(ln + tx + p, "float32")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    T.cta_id([4])
    w = T.warp_id([4])
    ln = T.lane_id()
    tx = T.thread_id()
    wg = T.warpgroup_id()
    p = T.cta_id_in_pair()
    T.cta_id_in_cluster([2])
    A[wg, w] = T.Cast("float32", ln + tx + p)
