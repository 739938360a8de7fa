# A loop while a condition holds, left early.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    i = 0
    while i < 8:
        if A[tx, i] == 0.0:
            break
        i += 1
        if i == 3:
            continue
        A[tx, i] = 1.0
    for k in range(4):
        if k == tx:
            break
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    i: T.int32 = 0
    while i < 8:
        if A[tx, i] == T.float32(0.0):
            break
        i = i + 1
        if i == 3:
            continue
        A[tx, i] = T.float32(1.0)
    for k in range(4):
        if k == tx:
            break
