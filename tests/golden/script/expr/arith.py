# Arithmetic.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = tx + 1 - 2 * tx
    y = x // 3 % 5
    z = -x + ~y
    A[0, 0] = A[0, 1] + A[0, 2] * A[0, 3] - A[1, 0] / A[1, 1]
    A[0, 1] = -A[0, 1]
    A[0, 2] = +A[0, 3]
    A[0, 3] = x - (y - z)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = tx + 1 - 2 * tx
    y: T.int32 = x // 3 % 5
    z: T.int32 = -x + ~y
    A[0, 0] = A[0, 1] + A[0, 2] * A[0, 3] - A[1, 0] / A[1, 1]
    A[0, 1] = -A[0, 1]
    A[0, 2] = A[0, 3]
    A[0, 3] = T.Cast("float32", x - (y - z))
