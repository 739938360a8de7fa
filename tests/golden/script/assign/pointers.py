# Pointers and vectors are bound, not stored.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    p = A.data
    q = T.ptr_byte_offset(p, 16, "float32")
    r = T.handle_add_byte_offset(p, tx * 4)
    v = A.vload([0, 0], "float32x2")
    T.cuda.copy_128b(q, r)
    A.vstore([1, 0], v)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    p: T.let[T.handle("float32")] = A.data
    q: T.let[T.handle("float32")] = T.ptr_byte_offset(p, 16, "float32")
    r: T.let[T.handle("float32")] = T.ptr_byte_offset(p, tx * 4, "float32")
    v: T.let[T.float32x2] = A.vload([0, 0], dtype="float32x2")
    T.cuda.copy_bytes(q, r, 16)
    A.vstore([1, 0], v)
