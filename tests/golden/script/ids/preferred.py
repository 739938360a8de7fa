# A preferred cluster size.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    cb = T.cta_id_in_cluster([2], preferred=[4])
    T.cta_id([8])
    T.thread_id([32])
    A[cb, 0] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    cb = T.cta_id_in_cluster([2], preferred=[4])
    T.cta_id([8])
    T.thread_id([32])
    A[cb, 0] = T.float32(1.0)
