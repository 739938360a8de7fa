# The names of the Python package: `@ww.kernel`, `ww.Tensor`, and the language from one module.
import warpwright as ww
from warpwright.lang import S, T, TileLayout, Tx, laneid

fragment = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)])


@ww.kernel
def through(A: ww.Tensor["n", 8, 8, "float16"], B: ww.Tensor["n", 8, 8, "float16"]):
    T.device_entry()
    b = T.cta_id([A.shape[0]])
    T.warp_id([1])
    T.lane_id([32])
    R = T.alloc_buffer((8, 8), "float16", scope="local", layout=fragment)
    Tx.warp.copy(R[:, :], A[b, :, :])
    Tx.warp.copy(B[b, :, :], R[:, :])
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def through(A: T.Buffer(("n", 8, 8), "float16"), B: T.Buffer(("n", 8, 8), "float16")):
    T.device_entry()
    b = T.cta_id([n])
    T.warp_id([1])
    T.lane_id([32])
    R_1 = T.alloc_buffer((8, 8), "float16", scope="local", layout=TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]))
    Tx.warp.copy(R_1[0:8, 0:8], A[b:b + 1, 0:8, 0:8])
    Tx.warp.copy(B[b:b + 1, 0:8, 0:8], R_1[0:8, 0:8])
