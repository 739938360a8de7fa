# Atomic operations take the type of what the pointer points to.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    n = T.alloc_shared([4], "int32")
    p = A.ptr_to([0, 0])
    q = n.ptr_to([1])
    T.cuda.atomic_add(p, 1)
    old: T.let = T.cuda.atomic_add(q, tx)
    T.cuda.atomic_min(q, 3)
    T.cuda.atomic_max(q, 3)
    T.cuda.atomic_and(q, 3)
    T.cuda.atomic_or(q, 3)
    T.cuda.atomic_xor(q, 3)
    T.cuda.atomic_exch(q, 3)
    cas = T.cuda.atomic_cas(q, 1, old)
    A[0, 0] = T.cuda.ldg(p)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    n = T.alloc_shared((4,), "int32")
    p: T.let[T.handle("float32")] = T.address_of(A[0, 0])
    q: T.let[T.handle("int32")] = T.address_of(n[1])
    T.evaluate(T.cuda.atomic_add(p, T.float32(1.0)))
    old: T.let[T.int32] = T.cuda.atomic_add(q, tx)
    T.evaluate(T.cuda.atomic_min(q, 3))
    T.evaluate(T.cuda.atomic_max(q, 3))
    T.evaluate(T.cuda.atomic_and(q, 3))
    T.evaluate(T.cuda.atomic_or(q, 3))
    T.evaluate(T.cuda.atomic_xor(q, 3))
    T.evaluate(T.cuda.atomic_exch(q, 3))
    cas: T.int32 = T.cuda.atomic_cas(q, 1, old)
    A[0, 0] = T.cuda.ldg(p)
