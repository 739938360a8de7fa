# An annotation gives the type; T.let binds without storage.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    i: T.int64 = tx
    u: T.uint8 = 255
    h: T.float16 = 1
    b: T.bool = True
    k: T.let = tx + 1
    m: T.let[T.int64] = tx
    p: T.handle = A.data
    q: T.let[T.handle] = A.ptr_to([0, 1])
    A[k, 0] = h
    A[0, m] = i + u
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    i: T.int64 = T.Cast("int64", tx)
    u: T.uint8 = T.uint8(255)
    h: T.float16 = T.float16(1.0)
    b: T.bool = T.bool(True)
    k: T.let[T.int32] = tx + 1
    m: T.let[T.int64] = T.Cast("int64", tx)
    p: T.let[T.handle("float32")] = A.data
    q: T.let[T.handle("float32")] = T.address_of(A[0, 1])
    A[k, 0] = T.Cast("float32", h)
    A[0, m] = T.Cast("float32", i + T.Cast("int64", u))
