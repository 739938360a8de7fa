# Host values and regions are bound, nothing is emitted.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.meta_var(tx * 2 + 1)
    A[x % 16, 0] = x
    t = T.meta_var((1, 2))
    A[t[0], t[1]] = 0.0
    R0 = A[0:4, :]
    B = A
    B[0, 0] = 1.0
    s = "text"
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    A[(tx * 2 + 1) % 16, 0] = T.Cast("float32", tx * 2 + 1)
    A[1, 2] = T.float32(0.0)
    A[0, 0] = T.float32(1.0)
