#: kernel = f.specialize(b=None)
# A parameter that may be left out.
@T.jit
def f(a: T.handle, b: T.Optional(T.handle)):
    A = T.match_buffer(a, (32,), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    if b is not None:
        B = T.match_buffer(b, (32,), "float32")
        A[tx] = B[tx]
    else:
        A[tx] = 0.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (32,))
    T.device_entry()
    tx = T.thread_id([32])
    A[tx] = T.float32(0.0)
