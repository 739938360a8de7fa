# Variant, workspace and open settings.
extra = {"vec_len": 8}

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    S0 = T.alloc_shared((16, 16), "float32")
    W = T.alloc_shared((64,), "uint8")
    Tx.cta.copy(S0, A, dispatch="vec_auto", vec_len=4, cache=True, ratio=0.5, mode="x")
    Tx.cta.copy(dst=S0, src=A, workspace={"tmp": W}, config={"k": 1})
    Tx.cta.copy(S0, A, dispatch=None, **extra)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    S0 = T.alloc_buffer((16, 16), scope="shared")
    W = T.alloc_shared((64,), "uint8")
    Tx.cta.copy(S0[0:16, 0:16], A[0:16, 0:16], vec_len=4, cache=True, ratio=0.5, mode="x", dispatch="vec_auto")
    Tx.cta.copy(S0[0:16, 0:16], A[0:16, 0:16], k=1, workspace={"tmp": W})
    Tx.cta.copy(S0[0:16, 0:16], A[0:16, 0:16], vec_len=8)
