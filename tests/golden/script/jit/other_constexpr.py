#: kernel = k.specialize(n=3)
from tvm.script import ir as I
from tvm.script import tirx as T


@T.jit
def k(A: T.Buffer((32,), "int32"), n: I.constexpr):
    T.device_entry()
    tid = T.thread_id([32])
    A[tid] = n
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def k(A: T.Buffer((32,), "int32")):
    T.device_entry()
    tid = T.thread_id([32])
    A[tid] = 3
