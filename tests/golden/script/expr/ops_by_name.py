# Nodes by name.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.Add(tx, 1) + T.Sub(tx, 2) + T.Mul(tx, 3) + T.Div(tx, 4) + T.Mod(tx, 5)
    if T.EQ(x, 1) or T.NE(x, 2) or T.LT(x, 3) or T.LE(x, 4) or T.GT(x, 5) or T.GE(x, 6):
        A[0, 0] = x
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = tx + 1 + (tx - 2) + tx * 3 + T.truncdiv(tx, 4) + T.truncmod(tx, 5)
    if x == 1 or x != 2 or x < 3 or x <= 4 or x > 5 or x >= 6:
        A[0, 0] = T.Cast("float32", x)
