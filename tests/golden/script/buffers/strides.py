# Strides are a layout.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    B = T.decl_buffer((4, 4), "float32", data=A.data, strides=[16, 1])
    A[tx, 0] = B[3, 3]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    B = T.decl_buffer((4, 4), data=A.data, layout=TileLayout(S[(4, 4) : (16, 1)]))
    A[tx, 0] = B[3, 3]
