from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32, 2), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local([2], "float32")
    Tx.copy(r, A[t])
    Tx.exp(r, fast=True)
    Tx.fdiv(r, r, r, fast=False)
    Tx.copy(A[t], r)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((32, 2))):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local((2,))
    Tx.copy(r[0:2], A[t:t + 1, 0:2])
    Tx.exp(r[0:2], fast=True)
    Tx.fdiv(r[0:2], r[0:2], r[0:2], fast=False)
    Tx.copy(A[t:t + 1, 0:2], r[0:2])
