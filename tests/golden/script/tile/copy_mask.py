from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((32, 16), "float16"), M: T.Buffer((32, 16), "bool")):
    T.device_entry()
    bx = T.cta_id([2])
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float16")
    rows = T.alloc_shared((16, 1), "bool")
    Tx.cta.copy(S0, A[bx * 16 : bx * 16 + 16, 0:16], predicate=M[bx * 16 : bx * 16 + 16, 0:16])
    Tx.cta.copy_async(S0, A[0:16, 0:16], rows, fill_value=0)
    Tx.copy(S0[0, 0:4], A[0, 0:4], predicate=M[0, 0])
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((32, 16), "float16"), M: T.Buffer((32, 16), "bool")):
    T.device_entry()
    bx = T.cta_id([2])
    tx = T.thread_id([32])
    S0 = T.alloc_buffer((16, 16), "float16", scope="shared")
    rows = T.alloc_buffer((16, 1), "bool", scope="shared")
    Tx.cta.copy(S0[0:16, 0:16], A[bx * 16:bx * 16 + 16, 0:16], predicate=M[bx * 16:bx * 16 + 16, 0:16])
    Tx.cta.copy_async(S0[0:16, 0:16], A[0:16, 0:16], predicate=rows[0:16, 0:1], fill_value=0)
    Tx.copy(S0[0:1, 0:4], A[0:1, 0:4], predicate=M[0, 0])
