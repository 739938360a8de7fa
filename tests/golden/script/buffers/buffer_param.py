# A quoted extent is an int32 known at launch; the same name is the same extent.
@T.prim_func
def f(A: T.Buffer(("n", 4), "float32"), B: T.Buffer("n", "float32", scope="global"), C: T.Buffer((16,), T.int8)):
    T.device_entry()
    tx = T.thread_id([32])
    A[tx, 0] = B[tx] + T.cast(n, "float32")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer(("n", 4)), B: T.Buffer(("n",)), C: T.Buffer((16,), "int8")):
    T.device_entry()
    tx = T.thread_id([32])
    A[tx, 0] = B[tx] + T.Cast("float32", n)
