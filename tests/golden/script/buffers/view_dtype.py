# A view as another type scales the last extent.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    H = T.alloc_local((2, 8), "float16")
    U = H.view("uint32")
    B = H.view("uint8")
    I = H.view(T.int16)
    U[1, 3] = T.uint32(7)
    B[1, 15] = T.uint8(9)
    I[1, 7] = U[0, 0]
    A[0, 0] = H[0, 1]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    H = T.alloc_buffer((2, 8), "float16", scope="local")
    U = T.decl_buffer((2, 4), "uint32", data=H.data, scope="local")
    B = T.decl_buffer((2, 16), "uint8", data=H.data, scope="local")
    I = T.decl_buffer((2, 8), "int16", data=H.data, scope="local")
    U[1, 3] = T.uint32(7)
    B[1, 15] = T.uint8(9)
    I[1, 7] = T.Cast("int16", U[0, 0])
    A[0, 0] = T.Cast("float32", H[0, 1])
