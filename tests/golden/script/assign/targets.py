# Tuples are unpacked one by one, in order: the second store sees the first.
def pair(t):
    return (t + 1, t + 2), t + 3

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    kp, rM = tx % 2, tx // 2
    (a0, b0), c0 = pair(tx)
    [d0, e0] = 1, 2
    first, *rest = 1, 2, 3
    kp, rM = rM, kp
    A[kp, rM] = a0 + b0 + c0
    A[d0, e0] = first + rest[1]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    kp: T.int32 = tx % 2
    rM: T.int32 = tx // 2
    a0: T.int32 = tx + 1
    b0: T.int32 = tx + 2
    c0: T.int32 = tx + 3
    d0: T.int32 = 1
    e0: T.int32 = 2
    first: T.int32 = 1
    old: T.let[T.int32] = kp
    kp = rM
    rM = old
    A[kp, rM] = T.Cast("float32", a0 + b0 + c0)
    A[d0, e0] = T.Cast("float32", first + 3)
