# Without T.device_entry() the body is host code.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,), "int32")
    for i in range(16):
        A[i] = i
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,), "int32")
    for i in range(16):
        A[i] = i
