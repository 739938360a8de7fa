# What does nothing emits nothing; semicolons separate statements.
@T.prim_func
def f(a: T.handle):
    """A text in front is no statement."""
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    pass
    ...
    A[tx, 0] = 1.0; A[tx, 1] = 2.0
    T.evaluate(tx + 1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    A[tx, 0] = T.float32(1.0)
    A[tx, 1] = T.float32(2.0)
    T.evaluate(tx + 1)
