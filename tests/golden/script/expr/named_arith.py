# Arithmetic by name.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.max(tx, 3) + T.min(tx, 4)
    y = T.ceildiv(tx, 4) + T.floordiv(tx, 3) + T.floormod(tx, 5)
    z = T.truncdiv(tx - 8, 3) + T.truncmod(tx - 8, 3)
    w = max(tx, 2) + min(tx, 9) + abs(tx - 3)
    A[0, 0] = T.max(A[0, 1], 0)
    A[x, y] = T.abs(A[z, w])
    n: T.let = T.ceildiv(17, 4)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = T.max(tx, 3) + T.min(tx, 4)
    y: T.int32 = (tx + 4 - 1) // 4 + tx // 3 + tx % 5
    z: T.int32 = T.truncdiv(tx - 8, 3) + T.truncmod(tx - 8, 3)
    w: T.int32 = T.max(tx, 2) + T.min(tx, 9) + T.abs(tx - 3)
    A[0, 0] = T.max(A[0, 1], T.float32(0.0))
    A[x, y] = T.abs(A[z, w])
    n: T.let[T.int32] = 5
