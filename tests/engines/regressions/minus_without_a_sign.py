# A negative number beside elements that have no sign.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (32, 8), "uint64")
    o = T.match_buffer(o_ptr, (32, 8), "uint64")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    r = T.alloc_buffer((8,), "uint64", scope="local")
    Tx.copy(r[0:8], a[lane, 0:8])
    Tx.sub(r, r, -3)
    Tx.mul(r, r, -3)
    Tx.maximum(r, r, -3)
    Tx.fma(r, r, r, -3)
    Tx.copy(o[lane, 0:8], r[0:8])
