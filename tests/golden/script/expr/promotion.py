# How operands of two types meet; literals take the type of the other side.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    i8: T.int8 = 1
    i64: T.int64 = 2
    u32: T.uint32 = 3
    h: T.float16 = 1.0
    d: T.float64 = 2.0
    a0: T.let = i8 + tx
    a1: T.let = tx + i64
    a2: T.let = tx + u32
    a3: T.let = h + A[0, 0]
    a4: T.let = A[0, 0] + d
    a5: T.let = tx * A[0, 0]
    a6: T.let = tx + 1.5
    a7: T.let = h * 2
    a8: T.let = T.int8(1) + T.uint8(2)
    a9: T.let = u32 + 4294967295
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    i8: T.int8 = T.int8(1)
    i64: T.int64 = T.int64(2)
    u32: T.uint32 = T.uint32(3)
    h: T.float16 = T.float16(1.0)
    d: T.float64 = T.float64(2.0)
    a0: T.let[T.int32] = T.Cast("int32", i8) + tx
    a1: T.let[T.int64] = T.Cast("int64", tx) + i64
    a2: T.let[T.int32] = tx + T.Cast("int32", u32)
    a3: T.let[T.float32] = T.Cast("float32", h) + A[0, 0]
    a4: T.let[T.float64] = T.Cast("float64", A[0, 0]) + d
    a5: T.let[T.float32] = T.Cast("float32", tx) * A[0, 0]
    a6: T.let[T.float32] = T.Cast("float32", tx) + T.float32(1.5)
    a7: T.let[T.float16] = h * T.float16(2.0)
    a8: T.let[T.int8] = T.int8(3)
    a9: T.let[T.uint32] = u32 + T.uint32(4294967295)
