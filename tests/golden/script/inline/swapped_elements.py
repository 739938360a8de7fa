# Elements of a buffer behind two attributes are exchanged: each right side is read before a store changes it.
@T.meta_class
class Pair:
    def __init__(self):
        self.b = T.alloc_local((2,), "int32")


@T.meta_class
class Outer:
    def __init__(self, p):
        self.p = p


@T.prim_func
def f(A: T.Buffer((8,), "int32")):
    T.device_entry()
    tx = T.thread_id([32])
    h = T.meta_var(Outer(Pair()))
    h.p.b[0] = 3
    h.p.b[1] = 4
    h.p.b[0], h.p.b[1] = h.p.b[1], h.p.b[0]
    if tx == 0:
        A[0] = h.p.b[0]
        A[1] = h.p.b[1]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((8,), "int32")):
    T.device_entry()
    tx = T.thread_id([32])
    h_p_b = T.alloc_local((2,), "int32")
    h_p_b[0] = 3
    h_p_b[1] = 4
    old: T.let[T.int32] = h_p_b[0]
    h_p_b[0] = h_p_b[1]
    h_p_b[1] = old
    if tx == 0:
        A[0] = h_p_b[0]
        A[1] = h_p_b[1]
