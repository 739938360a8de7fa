# A promise, of each kind of number and of a condition.
@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (4,), "int32")
    B = T.match_buffer(b, (4,), "float16")
    T.device_entry()
    tx = T.thread_id([32])
    n = T.uniform(A[tx % 4])
    wide: T.let = T.uniform(T.int64(A[0]))
    if T.uniform(B[0] > T.float16(1)) and T.uniform(B[1]) < T.float16(2):
        A[0] = n + T.cast(wide, "int32")
    A[1] = T.warp_uniform(A[2])
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (4,), "int32")
    B = T.match_buffer(b, (4,), "float16")
    T.device_entry()
    tx = T.thread_id([32])
    n: T.int32 = T.uniform(A[tx % 4])
    wide: T.let[T.int64] = T.uniform(T.Cast("int64", A[0]))
    if T.uniform(B[0] > T.float16(1.0)) and T.uniform(B[1]) < T.float16(2.0):
        A[0] = n + T.Cast("int32", wide)
    A[1] = T.warp_uniform(A[2])
