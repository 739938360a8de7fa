# Inline functions that call each other and take functions.
@T.inline
def inner(B, i, f):
    B[i, 0] = f(B[i, 1])

@T.inline
def outer(B, i):
    for k in T.unroll(2):
        inner(B, i + k, lambda v: v * 2.0)
    if i < 4:
        inner(B, 0, lambda v: v + 1.0)

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    outer(A, tx)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    for k in T.unroll(2):
        A[tx + k, 0] = A[tx + k, 1] * T.float32(2.0)
    if tx < 4:
        A[0, 0] = A[0, 1] + T.float32(1.0)
