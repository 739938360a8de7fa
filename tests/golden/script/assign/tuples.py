# A tuple has a name; its values are those of the expressions.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 17), "int32")
    T.device_entry()
    tx = T.thread_id([16])
    both = (tx, tx + 1)
    A[both[0], both[1]] = 0
    x, y = T.meta_var((tx, tx + 1))
    A[x, y] = 1
    p, q = both
    A[p, q] = 2
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 17), "int32")
    T.device_entry()
    tx = T.thread_id([16])
    A[tx, tx + 1] = 0
    A[tx, tx + 1] = 1
    p: T.int32 = tx
    q: T.int32 = tx + 1
    A[p, q] = 2
