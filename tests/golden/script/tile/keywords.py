# Variant, workspace and open settings.
extra = {"prefetch_size": 64}

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    S0 = T.alloc_local((16, 16), "float32")
    W = T.alloc_shared((64,), "uint8")
    Tx.copy(S0, A, dispatch="vec_auto", prefetch_size=128, cache="nc", predicate=True, fill_mode="zero")
    Tx.copy(dst=S0, src=A, workspace={"tmp": W}, config={"l1_evict": "no_allocate"})
    Tx.copy(S0, A, dispatch=None, **extra)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    S0 = T.alloc_buffer((16, 16), scope="local")
    W = T.alloc_shared((64,), "uint8")
    Tx.copy(S0[0:16, 0:16], A[0:16, 0:16], prefetch_size=128, cache="nc", predicate=True, fill_mode="zero", dispatch="vec_auto")
    Tx.copy(S0[0:16, 0:16], A[0:16, 0:16], l1_evict="no_allocate", workspace={"tmp": W})
    Tx.copy(S0[0:16, 0:16], A[0:16, 0:16], prefetch_size=64)
