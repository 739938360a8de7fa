# Ids without a name declare extents only; the grid may be known at launch.
@T.prim_func
def f(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 16), "float32")
    T.device_entry()
    T.cta_id([T.ceildiv(n, 16)])
    T.warp_id([4])
    T.lane_id([32])
    A[0, 0] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 16))
    T.device_entry()
    T.cta_id([(n + 16 - 1) // 16])
    T.warp_id([4])
    T.lane_id([32])
    A[0, 0] = T.float32(1.0)
