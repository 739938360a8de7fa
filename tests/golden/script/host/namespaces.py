#: kernel = build("warp", "copy")
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout, laneid


def build(scope, op):
    @T.prim_func
    def kernel(A_ptr: T.handle):
        A = T.match_buffer(A_ptr, (32, 4), "float32")
        T.device_entry()
        T.cta_id([1])
        T.warp_id([1])
        T.lane_id([32])
        R = T.alloc_buffer(
            (32, 4), "float32", scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)])
        )
        getattr(Tx, scope).copy(R, A)
        getattr(getattr(Tx, scope), op)(A, R)

    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def kernel(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, 4))
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    R_1 = T.alloc_buffer((32, 4), scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    Tx.warp.copy(R_1[0:32, 0:4], A[0:32, 0:4])
    Tx.warp.copy(A[0:32, 0:4], R_1[0:32, 0:4])
