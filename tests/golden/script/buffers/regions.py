# Fewer indices than dimensions, tuples of slices, bounds of run time.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    B = T.alloc_shared((16, 16), "float32")
    full = (slice(0, 8), slice(None))
    i = tx % 2
    Tx.copy(B[full], A[full])
    Tx.copy(B[0:4, 0:4], A[4:8, -4:])
    Tx.copy(B[i * 8 : i * 8 + 8, 0:2], A[8:16, i : i + 2])
    Tx.copy(B[3], A[tx % 16])
    Tx.copy(B[3, 4:8], A[4:8, 3])
    Tx.copy(B, A)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    B = T.alloc_buffer((16, 16), scope="shared")
    i: T.int32 = tx % 2
    Tx.copy(B[0:8, 0:16], A[0:8, 0:16])
    Tx.copy(B[0:4, 0:4], A[4:8, 12:16])
    Tx.copy(B[i * 8:i * 8 + 8, 0:2], A[8:16, i:i + 2])
    Tx.copy(B[3:4, 0:16], A[tx % 16:tx % 16 + 1, 0:16])
    Tx.copy(B[3:4, 4:8], A[4:8, 3:4])
    Tx.copy(B[0:16, 0:16], A[0:16, 0:16])
