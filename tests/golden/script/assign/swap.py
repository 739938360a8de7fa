# All values of a tuple assignment are those before the first store, as in Python.
@T.prim_func
def kernel(A: T.Buffer((32,), "int32")):
    T.device_entry()
    tid = T.thread_id([32])
    a = tid
    b = tid + 1
    a, b = b, a + b
    A[tid], a = a, A[tid]
    A[tid] = A[tid] + a + b
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((32,), "int32")):
    T.device_entry()
    tid = T.thread_id([32])
    a: T.int32 = tid
    b: T.int32 = tid + 1
    old: T.let[T.int32] = a + b
    a = b
    b = old
    old_1: T.let[T.int32] = A[tid]
    A[tid] = a
    a = old_1
    A[tid] = A[tid] + a + b
