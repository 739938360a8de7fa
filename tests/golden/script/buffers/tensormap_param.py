# A tensor map that the host made is a pointer.
@T.prim_func
def f(a: T.handle, m: T.handle("tensormap"), t: T.TensorMap()):
    A = T.match_buffer(a, (16,), "int32")
    T.device_entry()
    tx = T.thread_id([16])
    A[tx] = 0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle, m: T.handle, t: T.handle):
    A = T.match_buffer(a, (16,), "int32")
    T.device_entry()
    tx = T.thread_id([16])
    A[tx] = 0
