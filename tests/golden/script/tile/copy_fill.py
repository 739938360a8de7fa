# Copies under conditions: a source may go beyond its end where a value fills it up, a destination
# where it is clipped.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (10, 16), "float32")
    T.device_entry()
    bx = T.cta_id([2])
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy_async(S0, A[0:16, 0:16], fill_mode="zero")
    Tx.cta.copy(S0, src=A[bx * 16 : bx * 16 + 16, 0:16], fill_mode="zero", predicate=bx < 1)
    Tx.cta.copy(S0, A[bx * 16 : bx * 16 + 16, 0:16], fill_value=float("-inf"))
    Tx.cta.copy(S0, A[bx * 16 - 4 : bx * 16 + 12, 0:16], fill_value=A[0, 0])
    Tx.cta.copy(A[bx * 16 : bx * 16 + 16, 0:16], S0, clip=True)
    Tx.copy_async(S0[0, 0:4], A[0, 0:4], predicate=tx == 0, direct=True, prefetch_size=128)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (10, 16))
    T.device_entry()
    bx = T.cta_id([2])
    tx = T.thread_id([32])
    S0 = T.alloc_buffer((16, 16), scope="shared")
    Tx.cta.copy_async(S0[0:16, 0:16], A[0:16, 0:16], fill_mode="zero")
    Tx.cta.copy(S0[0:16, 0:16], A[bx * 16:bx * 16 + 16, 0:16], fill_mode="zero", predicate=bx < 1)
    Tx.cta.copy(S0[0:16, 0:16], A[bx * 16:bx * 16 + 16, 0:16], fill_value=float("-inf"))
    Tx.cta.copy(S0[0:16, 0:16], A[bx * 16 - 4:bx * 16 - 4 + 16, 0:16], fill_value=A[0, 0])
    Tx.cta.copy(A[bx * 16:bx * 16 + 16, 0:16], S0[0:16, 0:16], clip=True)
    Tx.copy_async(S0[0:1, 0:4], A[0:1, 0:4], predicate=tx == 0, direct=True, prefetch_size=128)
