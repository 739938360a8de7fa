# Logic; chained comparisons.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    if tx > 1 and tx < 5 or not tx == 7:
        A[0, 0] = 1.0
    if 0 <= tx < 8 != False:
        A[0, 1] = 1.0
    if tx >= 2 and True:
        A[0, 2] = 1.0
    if T.And(tx > 0, tx < 3) | T.Or(tx == 5, tx != 6):
        A[0, 3] = 1.0
    if T.all(tx > 0, tx < 3, tx != 2) & T.any(tx > 4, tx < 1):
        A[0, 4] = 1.0
    if T.Not(tx <= 3):
        A[0, 5] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    if tx > 1 and tx < 5 or not tx == 7:
        A[0, 0] = T.float32(1.0)
    if 0 <= tx and tx < 8 and T.bool(True):
        A[0, 1] = T.float32(1.0)
    if tx >= 2 and T.bool(True):
        A[0, 2] = T.float32(1.0)
    if (tx > 0 and tx < 3) | (tx == 5 or tx != 6):
        A[0, 3] = T.float32(1.0)
    if (tx > 0 and tx < 3 and tx != 2) & (tx > 4 or tx < 1):
        A[0, 4] = T.float32(1.0)
    if not tx <= 3:
        A[0, 5] = T.float32(1.0)
