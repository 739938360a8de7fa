# Conversions.
D = "float8_e4m3fn"

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    a0: T.let = T.cast(tx, "float32")
    a1: T.let = T.Cast("int64", tx)
    a2: T.let = T.uint32(tx)
    a3: T.let = T.f16(A[0, 0])
    a4: T.let = T.reinterpret("uint32", A[0, 0])
    a5: T.let = T.bool(tx)
    a6: T.let = T.cast(A[0, 0], D)
    a7: T.let = T.cast(A.vload([0, 0], "float32x2"), "float16x2")
    a8: T.let = T.int32(A[0, 1])
    a9: T.let = tx.astype("int64")
    A[0, 0] = T.bfloat16(1.0)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    a0: T.let[T.float32] = T.Cast("float32", tx)
    a1: T.let[T.int64] = T.Cast("int64", tx)
    a2: T.let[T.uint32] = T.Cast("uint32", tx)
    a3: T.let[T.float16] = T.Cast("float16", A[0, 0])
    a4: T.let[T.uint32] = T.reinterpret("uint32", A[0, 0])
    a5: T.let[T.bool] = T.Cast("bool", tx)
    a6: T.let[T.float8_e4m3fn] = T.Cast("float8_e4m3fn", A[0, 0])
    a7: T.let[T.float16x2] = T.Cast("float16x2", A.vload([0, 0], dtype="float32x2"))
    a8: T.let[T.int32] = T.Cast("int32", A[0, 1])
    a9: T.let[T.int64] = T.Cast("int64", tx)
    A[0, 0] = T.float32(1.0)
