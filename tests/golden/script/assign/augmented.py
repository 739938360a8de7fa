# Augmented assignments.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = 1
    x += tx
    x *= 2
    x -= 1
    x //= 3
    x %= 5
    x <<= 1
    x >>= 1
    x &= 7
    x |= 8
    x ^= 3
    A[tx, 0] += 1
    A[tx, 0] /= 2
    y: T.float32 = 1.0
    y += x
    A[0, 0] = y
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = 1
    x = x + tx
    x = x * 2
    x = x - 1
    x = x // 3
    x = x % 5
    x = x << 1
    x = x >> 1
    x = x & 7
    x = x | 8
    x = x ^ 3
    A[tx, 0] = A[tx, 0] + T.float32(1.0)
    A[tx, 0] = A[tx, 0] / T.float32(2.0)
    y: T.float32 = T.float32(1.0)
    y = y + T.Cast("float32", x)
    A[0, 0] = y
