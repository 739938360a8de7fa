# Bits, by operator and by name.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = (tx << 2) | (tx & 3) ^ 5
    y = x >> 1
    A[0, 0] = T.bitwise_and(x, 1) + T.bitwise_or(x, 2) + T.bitwise_xor(x, 3) + T.bitwise_not(x)
    A[0, 1] = T.shift_left(x, 1) + T.shift_right(y, 2)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = tx << 2 | tx & 3 ^ 5
    y: T.int32 = x >> 1
    A[0, 0] = T.Cast("float32", (x & 1) + (x | 2) + (x ^ 3) + ~x)
    A[0, 1] = T.Cast("float32", (x << 1) + (y >> 2))
