# Every scope id.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    cl = T.cluster_id([4])
    rank = T.cta_id_in_cluster([2])
    cb = T.cta_id([8])
    wg = T.warpgroup_id([2])
    w = T.warp_id([8])
    wi = T.warp_id_in_wg([4])
    ln = T.lane_id([32])
    tx = T.thread_id([256])
    ti = T.thread_id_in_wg([128])
    if cl == 0 and cb == 0:
        A[wg, w] = T.cast(wi + ln + tx + ti + rank, "float32")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    cl = T.cluster_id([4])
    rank = T.cta_id_in_cluster([2])
    cb = T.cta_id([8])
    wg = T.warpgroup_id([2])
    w = T.warp_id([8])
    wi = T.warp_id_in_wg([4])
    ln = T.lane_id([32])
    tx = T.thread_id([256])
    ti = T.thread_id_in_wg([128])
    if cl == 0 and cb == 0:
        A[wg, w] = T.Cast("float32", wi + ln + tx + ti + rank)
