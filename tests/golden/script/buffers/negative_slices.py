# A negative bound counts from the end, as in Python.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    sub = S0.sub[-4:, :]
    Tx.cta.copy(sub[-2:, :], A[-2:, :])
    Tx.cta.copy(S0[0:4, :], A[-6:-2, :])
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_buffer((16, 16), scope="shared")
    sub = T.decl_buffer((4, 16), data=S0.data, scope="shared", layout=TileLayout(S[(4, 16) : (16, 1)] + 192))
    Tx.cta.copy(sub[2:4, 0:16], A[14:16, 0:16])
    Tx.cta.copy(S0[0:4, 0:16], A[10:14, 0:16])
