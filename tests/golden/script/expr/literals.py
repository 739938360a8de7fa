# Literals.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = 1
    A[0, 1] = 1e-5
    A[0, 2] = 0x1F
    A[0, 3] = True
    A[0, 4] = T.float32(0.1)
    A[0, 5] = T.float16(65504)
    A[0, 6] = 1_000
    x: T.uint64 = 18446744073709551615
    y: T.int64 = -9223372036854775808
    z: T.let = T.float32("inf")
    w: T.let = T.float32("-inf")
    v: T.let = T.float32("nan")
    u: T.let = T.uint8(200)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = T.float32(1.0)
    A[0, 1] = T.float32(1e-05)
    A[0, 2] = T.float32(31.0)
    A[0, 3] = T.float32(1.0)
    A[0, 4] = T.float32(0.1)
    A[0, 5] = T.float32(65504.0)
    A[0, 6] = T.float32(1000.0)
    x: T.uint64 = T.uint64(18446744073709551615)
    y: T.int64 = T.int64(-9223372036854775808)
    z: T.let[T.float32] = T.float32("inf")
    w: T.let[T.float32] = T.float32("-inf")
    v: T.let[T.float32] = T.float32("nan")
    u: T.let[T.uint8] = T.uint8(200)
