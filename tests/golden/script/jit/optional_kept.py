#: kernel = f.specialize()
# A parameter that may be left out, and is not.
@T.jit
def f(a: T.handle, b: T.Optional(T.handle)):
    A = T.match_buffer(a, (32,), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    if b is not None:
        A[tx] = 1.0
    else:
        A[tx] = 0.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (32,))
    T.device_entry()
    tx = T.thread_id([32])
    A[tx] = T.float32(1.0)
