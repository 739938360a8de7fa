# Rows of a table by number.
@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (100, 16), "float32")
    ids = T.match_buffer(b, (32,), "int64")
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_shared((32, 16), "float32")
    each = T.alloc_shared((100, 8), "int32")
    c = T.alloc_shared((100, 8), "float32")
    Tx.cta.gather(s, A, ids)
    Tx.cta.gather(s, A[4:, :], ids[:], axis=-2, fill_value=0.5)
    Tx.cta.gather(c, A, each, axis=1)
    Tx.cta.gather(s[0, :], A, ids[3])
    Tx.cta.scatter(A, s, ids)
    Tx.cta.scatter(A[8:16, :], s, ids, clip=True)
    Tx.cta.scatter_add(A, s, ids, 0)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (100, 16))
    ids = T.match_buffer(b, (32,), "int64")
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_buffer((32, 16), scope="shared")
    each = T.alloc_buffer((100, 8), "int32", scope="shared")
    c = T.alloc_buffer((100, 8), scope="shared")
    Tx.cta.gather(s[0:32, 0:16], A[0:100, 0:16], ids[0:32])
    Tx.cta.gather(s[0:32, 0:16], A[4:100, 0:16], ids[0:32], axis=-2, fill_value=0.5)
    Tx.cta.gather(c[0:100, 0:8], A[0:100, 0:16], each[0:100, 0:8], axis=1)
    Tx.cta.gather(s[0:1, 0:16], A[0:100, 0:16], ids[3:4])
    Tx.cta.scatter(A[0:100, 0:16], s[0:32, 0:16], ids[0:32])
    Tx.cta.scatter(A[8:16, 0:16], s[0:32, 0:16], ids[0:32], clip=True)
    Tx.cta.scatter_add(A[0:100, 0:16], s[0:32, 0:16], ids[0:32])
