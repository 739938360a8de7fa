# A choice that the host makes, before there is a kernel.
from tvm.script import tirx as T
from tvm.tirx.op import if_then_else

size = T.cast(if_then_else(T.int32(1) != 0, 16, 0), "uint32")
other = T.Select(False, 1, 2)


@T.prim_func
def f(A: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = size + T.uint32(other)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = T.uint32(18)
