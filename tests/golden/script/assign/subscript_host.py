# Host containers inside a kernel.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    d = T.meta_var({"a": 1})
    l = [tx, tx + 1]
    A[l[0], d["a"]] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    A[tx, 1] = T.float32(1.0)
