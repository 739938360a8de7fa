# A flat view without a layout.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    B = T.decl_buffer((256,), data=A.data, layout=None)
    B[tx] = B[tx + 32]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    B = T.decl_buffer((256,), data=A.data, layout=None)
    B[tx] = B[tx + 32]
