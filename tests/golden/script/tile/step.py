# Regions by steps are regions of views: every second row, every fourth element from the second on.
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (64, 128), "float32")
    B = T.match_buffer(b, (64,), "float32")
    T.device_entry()
    block = T.cta_id([2])
    t = T.thread_id([32])
    s = T.alloc_buffer((16, 32), "float32", scope="shared")
    Tx.cta.copy(s[0:16, 0:32], A[block * 32 : block * 32 + 32 : 2, 0:32])
    Tx.cta.copy(s[0:16, 0:32], A[1:33:2, 2:128:4])
    Tx.cta.copy(s[0, 0:16], B[3::4])
    Tx.cta.copy(s[0:16:8, 0:8], A[0:2, 0:8])
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (64, 128))
    B = T.match_buffer(b, (64,))
    T.device_entry()
    block = T.cta_id([2])
    t = T.thread_id([32])
    s = T.alloc_buffer((16, 32), scope="shared")
    A_by_step = T.decl_buffer((32, 128), data=A.data, layout=TileLayout(S[(32, 128) : (256, 1)]))
    Tx.cta.copy(s[0:16, 0:32], A_by_step[block * 32 // 2:block * 32 // 2 + 16, 0:32])
    A_by_step_1 = T.decl_buffer((32, 32), data=A.data, layout=TileLayout(S[(32, 32) : (256, 4)] + 130))
    Tx.cta.copy(s[0:16, 0:32], A_by_step_1[0:16, 0:32])
    B_by_step = T.decl_buffer((16,), data=B.data, layout=TileLayout(S[16 : 4] + 3))
    Tx.cta.copy(s[0:1, 0:16], B_by_step[0:16])
    s_by_step = T.decl_buffer((2, 32), data=s.data, scope="shared", layout=TileLayout(S[(2, 32) : (256, 1)]))
    Tx.cta.copy(s_by_step[0:2, 0:8], A[0:2, 0:8])
