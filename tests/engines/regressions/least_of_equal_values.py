# `min` of two loads of one element: ptxas takes it for the element, and a NaN keeps its bits.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A: T.Buffer((256,), "float32"), D: T.Buffer((256,), "float32"), E: T.Buffer((256,), "float32")):
    T.device_entry()
    T.warp_id([1])
    T.lane_id([32])
    s = T.alloc_buffer((256,), "float32", scope="shared")
    r = T.alloc_buffer((256,), "float32", scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    Tx.warp.copy(s, A)
    T.cuda.warp_sync()
    Tx.warp.copy(r, s)
    Tx.warp.minimum(r, s, r)
    Tx.warp.copy(D, r)
    Tx.warp.copy(r, s)
    Tx.warp.mul(r, r, 1.0)
    Tx.warp.copy(E, r)
