# Every kind of parameter; the return annotation is ignored.
@T.prim_func(private=True, check_well_formed=False)
def f(p: T.handle, q: T.handle("float32"), A: T.Buffer((4,), "float16"), n: T.int32, x: T.float32, m: T.TensorMap()) -> None:
    T.device_entry()
    tx = T.thread_id([4])
    A[tx] = x + n
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(p: T.handle, q: T.handle("float32"), A: T.Buffer((4,), "float16"), n: T.int32, x: T.float32, m: T.handle):
    T.device_entry()
    tx = T.thread_id([4])
    A[tx] = T.Cast("float16", x + T.Cast("float32", n))
