# Matrix loads and stores with their options as arguments.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx.ldmatrix(False, 2, ".b16", sm.ptr_to([tx % 16]), r.ptr_to([0]), T.address_of(r[1]))
    T.ptx.ldmatrix(True, 4, ".b16", sm.ptr_to([0]), *[r.ptr_to([k]) for k in range(4)])
    T.ptx.stmatrix(False, 1, ".b16", sm.ptr_to([0]), r.ptr_to([0]))
    T.ptx.stmatrix(True, 2, ".b16", sm.ptr_to([0]), r.ptr_to([0]), r.ptr_to([1]), shape="m8n8", space="shared")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx.ldmatrix(T.bool(False), 2, ".b16", T.address_of(sm[tx % 16]), T.address_of(r[0]), T.address_of(r[1]))
    T.ptx.ldmatrix(T.bool(True), 4, ".b16", T.address_of(sm[0]), T.address_of(r[0]), T.address_of(r[1]), T.address_of(r[2]), T.address_of(r[3]))
    T.ptx.stmatrix(T.bool(False), 1, ".b16", T.address_of(sm[0]), T.address_of(r[0]))
    T.ptx.stmatrix(T.bool(True), 2, ".b16", T.address_of(sm[0]), T.address_of(r[0]), T.address_of(r[1]))
