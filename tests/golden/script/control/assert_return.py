# Assertions of run time stay; those of host values are decided.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    assert tx < 32, "too many threads"
    assert True
    assert tx >= 0
    if tx == 3:
        return
    if tx == 4:
        return 0
    A[tx, 0] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    assert tx < 32, "too many threads"
    assert tx >= 0
    if tx == 3:
        return
    if tx == 4:
        return
    A[tx, 0] = T.float32(1.0)
