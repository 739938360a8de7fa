# Limits of types.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    a0: T.let = T.max_value("int8")
    a1: T.let = T.min_value("int8")
    a2: T.let = T.max_value("uint32")
    a3: T.let = T.min_value("float16")
    a4: T.let = T.infinity("float32")
    a5: T.let = -T.infinity("float16")
    a6: T.let = T.max_value(T.int64)
    a7: T.let = T.min_value("int64")
    a8: T.let = T.max_value("bool")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    a0: T.let[T.int8] = T.int8(127)
    a1: T.let[T.int8] = T.int8(-128)
    a2: T.let[T.uint32] = T.uint32(4294967295)
    a3: T.let[T.float16] = T.float16(-65504.0)
    a4: T.let[T.float32] = T.float32("inf")
    a5: T.let[T.float16] = T.float16("-inf")
    a6: T.let[T.int64] = T.int64(9223372036854775807)
    a7: T.let[T.int64] = T.int64(-9223372036854775808)
    a8: T.let[T.bool] = T.bool(True)
