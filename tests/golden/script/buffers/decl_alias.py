# decl_buffer with data= is another view of storage that exists; without it allocates.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_buffer((256,), "uint8", scope="shared.dyn", align=128)
    P = T.decl_buffer((4, 4), "float32", data=sm.data, scope="shared.dyn")
    Q = T.decl_buffer((8,), "float32", data=sm.data, elem_offset=16)
    H = T.decl_buffer((8,), "float16", data=P.data, byte_offset=96)
    V = T.decl_buffer((4,), "float32", data=Q.ptr_to([tx % 4]), scope="shared.dyn")
    N = T.decl_buffer((4,), scope="local")
    P[0, 0] = Q[1]
    H[0] = V[0]
    N[0] = P[0, 0]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_buffer((256,), "uint8", scope="shared.dyn", align=128)
    P = T.decl_buffer((4, 4), data=sm.data, scope="shared.dyn")
    Q = T.decl_buffer((8,), data=sm.data, elem_offset=16, scope="shared.dyn")
    H = T.decl_buffer((8,), "float16", data=sm.data, byte_offset=96, scope="shared.dyn")
    V = T.decl_buffer((4,), data=T.address_of(Q[tx % 4]), scope="shared.dyn")
    N = T.alloc_local((4,))
    P[0, 0] = Q[1]
    H[0] = T.Cast("float16", V[0])
    N[0] = P[0, 0]
