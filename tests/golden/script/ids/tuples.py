# One variable per extent; a tuple bound to one name numbers them.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    bx, by, bz = T.cta_id([2, 3, 4])
    tx, ty = T.thread_id([8, 4])
    c = T.cta_id_in_cluster([2, 1])
    A[bx + by, tx + ty] = T.cast(bz + c[0] + c[1], "float32")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    bx, by, bz = T.cta_id([2, 3, 4])
    tx, ty = T.thread_id([8, 4])
    c_0, c_1 = T.cta_id_in_cluster([2, 1])
    A[bx + by, tx + ty] = T.Cast("float32", bz + c_0 + c_1)
