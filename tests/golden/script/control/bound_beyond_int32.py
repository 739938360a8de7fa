from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle, n: T.uint32):
    B = T.match_buffer(B_ptr, (1,), "int64")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    for i in range(2**31 - 4, 2**31 + 4):
        B[0] = i
    for j in range(2, n):
        B[0] = j
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle, n: T.uint32):
    B = T.match_buffer(B_ptr, (1,), "int64")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    for i in T.serial(2147483644, 2147483652, dtype="int64"):
        B[0] = i
    for j in range(2, 2 + (T.Cast("int32", n) - 2)):
        B[0] = T.Cast("int64", j)
