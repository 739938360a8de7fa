# Vectors.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    v: T.let = T.Ramp(tx, 2, 4)
    w: T.let = T.Broadcast(T.float32(1), 4)
    u: T.let = T.Shuffle([w], [0, 2])
    s: T.let = T.cuda.make_float2(1.0, A[0, 0])
    t: T.let = T.cuda.make_uint4(1, 2, 3, tx)
    x: T.let = w + A.vload([0, 0], "float32x4")
    y: T.let = w * 2.0
    A.vstore([0, 0], x * y)
    A[0, 1] = T.Broadcast(A[0, 0], 1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    v: T.let[T.int32x4] = T.Ramp(tx, 2, 4)
    w: T.let[T.float32x4] = T.Broadcast(T.float32(1.0), 4)
    u: T.let[T.float32x2] = T.Shuffle([w], [0, 2])
    s: T.let[T.float32x2] = T.Shuffle([T.float32(1.0), A[0, 0]], [0, 1])
    t: T.let[T.uint32x4] = T.Shuffle([T.uint32(1), T.uint32(2), T.uint32(3), T.Cast("uint32", tx)], [0, 1, 2, 3])
    x: T.let[T.float32x4] = w + A.vload([0, 0], dtype="float32x4")
    y: T.let[T.float32x4] = w * T.Broadcast(T.float32(2.0), 4)
    A.vstore([0, 0], x * y)
    A[0, 1] = T.Broadcast(A[0, 0], 1)
