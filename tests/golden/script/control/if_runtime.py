# A condition of run time; each arm has its own names.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    if tx < 4:
        y = tx + 1
        A[tx, 0] = y
    elif tx == 5:
        A[tx, 0] = 2.0
    elif A[tx, 1] > 0.0:
        A[tx, 0] = 3.0
    else:
        A[tx, 0] = 4.0
    y = 7
    A[tx, 2] = y
    if tx & 1:
        pass
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    if tx < 4:
        y: T.int32 = tx + 1
        A[tx, 0] = T.Cast("float32", y)
    elif tx == 5:
        A[tx, 0] = T.float32(2.0)
    elif A[tx, 1] > T.float32(0.0):
        A[tx, 0] = T.float32(3.0)
    else:
        A[tx, 0] = T.float32(4.0)
    y: T.int32 = 7
    A[tx, 2] = T.Cast("float32", y)
    if tx & 1 != 0:
        pass
