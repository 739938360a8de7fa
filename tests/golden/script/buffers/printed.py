# As TVM prints accesses by pointer, and a copy of one element.
from tvm.script import tirx as T


@T.prim_func
def f(A: T.Buffer((32,), "uint32"), Q: T.Buffer((1,), "uint32")):
    T.attr({"tirx.device_entry": T.bool(True)})
    c = T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_shared((32,), "uint32")
    word: T.uint32
    s[t] = A[t]
    p: T.let[T.handle("uint32")] = T.tvm_access_ptr(T.type_annotation("uint32"), s.data, 4, 28, 1)
    q: T.let[T.handle("uint32")] = T.tvm_access_ptr(T.type_annotation("uint32"), s.data, 0, 32, 1)
    T.ptx.ld(A[t], T.cuda.cvta_generic_to_shared(p), "", "", "", "shared", "", "", "", "", "", "u32", "")
    T.ptx.ld(A[t], T.cuda.cvta_generic_to_shared(q), "", "", "", "shared", "", "", "", "", "", "u32", "")
    T.tile.copy(word.source[0], Q.source[0])
    A[t] = word
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((32,), "uint32"), Q: T.Buffer((1,), "uint32")):
    T.device_entry()
    c = T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_shared((32,), "uint32")
    word: T.uint32
    s[t] = A[t]
    p: T.let[T.handle("uint32")] = T.pointer_offset(s.data, 4)
    q: T.let[T.handle("uint32")] = s.data
    T.ptx["ld.shared.u32"](A[t], T.cuda.cvta_generic_to_shared(p))
    T.ptx["ld.shared.u32"](A[t], T.cuda.cvta_generic_to_shared(q))
    Tx.copy(word[0:1], Q[0:1])
    A[t] = word
