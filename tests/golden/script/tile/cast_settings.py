from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32, 2), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local([2], "float32")
    h = T.alloc_local([2], "float16")
    Tx.copy(r, A[t])
    Tx.cast(h, r, round="rz", saturate=True)
    Tx.cast(r, h)
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
    h = T.alloc_local((2,), "float16")
    Tx.copy(r[0:2], A[t:t + 1, 0:2])
    Tx.cast(h[0:2], src=r[0:2], round="rz", saturate=True)
    Tx.cast(r[0:2], src=h[0:2])
    Tx.copy(A[t:t + 1, 0:2], r[0:2])
