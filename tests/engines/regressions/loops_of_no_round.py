# Loops that are never entered: what stands in them need have no lowering, and here has none, because the
# loop's variable has no value.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (8, 32), "float32")
    o = T.match_buffer(o_ptr, (8, 32), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    r = T.alloc_buffer((1, 32), "float32", scope="local", layout=TileLayout(S[(1, 32) : (1, 1 @ laneid)]))
    Tx.warp.copy(r, a[0:1, :])
    for i in T.unroll(1, 1):
        Tx.warp.copy(r[0:1, 0 : i * 32], a[i : i + 1, 0 : i * 32])
    for i in T.serial(5, 3):
        Tx.warp.copy(r[0:1, 0 : i * 32], a[i : i + 1, 0 : i * 32])
    for i in T.serial(8):
        for j in T.serial(i // 8):
            Tx.warp.copy(r[0:1, 0 : (j + 1) * 32], a[i : i + 1, 0 : (j + 1) * 32])
        Tx.warp.copy(o[i : i + 1, :], r)
