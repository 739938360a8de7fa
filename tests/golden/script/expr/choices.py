# Choices: lazy and eager.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = T.if_then_else(tx < 3, A[0, 1], 0.0)
    A[0, 1] = T.Select(tx < 3, A[0, 1], 1)
    A[0, 2] = T.Select(True, A[0, 1], A[0, 2])
    x = T.if_then_else(tx == 0, 1, tx)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = T.if_then_else(tx < 3, A[0, 1], T.float32(0.0))
    A[0, 1] = T.Select(tx < 3, A[0, 1], T.float32(1.0))
    A[0, 2] = A[0, 1]
    x: T.int32 = T.if_then_else(tx == 0, 1, tx)
