# Every field of a declaration that is not the default is kept.
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle, b: T.handle("float16")):
    A = T.match_buffer(a, (32,), "float16", align=16, elem_offset=8)
    B = T.match_buffer(b, (32, 4), "float16", scope="global", layout=TileLayout(S[(32, 4) : (1, 32)]))
    T.match_buffer(b, [8], "int32")
    T.device_entry()
    tx = T.thread_id([32])
    B[tx, 0] = A[tx]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle, b: T.handle("float16")):
    A = T.match_buffer(a, (32,), "float16", elem_offset=8, align=16)
    B = T.match_buffer(b, (32, 4), "float16", layout=TileLayout(S[(32, 4) : (1, 32)]))
    v = T.match_buffer(b, (8,), "int32")
    T.device_entry()
    tx = T.thread_id([32])
    B[tx, 0] = A[tx]
