# A pointer bound to a name is immutable.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    p = A.ptr_to([tx // 16, tx % 16])
    q = T.address_of(A[1, 2])
    s = T.alloc_shared([1], "uint32")
    r = T.address_of(s)
    B = T.decl_buffer((4,), "float32", data=A.data, elem_offset=tx)
    T.cuda.atomic_add(p, 1.0)
    T.cuda.atomic_add(q, B[0])
    T.cuda.atomic_add(r, 1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    p: T.let[T.handle("float32")] = T.address_of(A[tx // 16, tx % 16])
    q: T.let[T.handle("float32")] = T.address_of(A[1, 2])
    s = T.alloc_shared((1,), "uint32")
    r: T.let[T.handle("uint32")] = T.address_of(s[0])
    B = T.decl_buffer((4,), data=A.data, elem_offset=tx)
    T.evaluate(T.cuda.atomic_add(p, T.float32(1.0)))
    T.evaluate(T.cuda.atomic_add(q, B[0]))
    T.evaluate(T.cuda.atomic_add(r, T.uint32(1)))
