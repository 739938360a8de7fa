# A product with lists of pointers, one per register.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    d = T.alloc_local((4,), "float32")
    x = T.alloc_local((4,), "uint32")
    y = T.alloc_local((2,), "uint32")
    ds = T.meta_var([d.ptr_to([k]) for k in range(4)])
    T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", ds, [x.ptr_to([k]) for k in range(4)], [y.ptr_to([0]), y.ptr_to([1])], ds)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    d = T.alloc_local((4,))
    x = T.alloc_local((4,), "uint32")
    y = T.alloc_local((2,), "uint32")
    T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", 4, 4, 2, 4, False, T.address_of(d[0]), T.address_of(d[1]), T.address_of(d[2]), T.address_of(d[3]), T.address_of(x[0]), T.address_of(x[1]), T.address_of(x[2]), T.address_of(x[3]), T.address_of(y[0]), T.address_of(y[1]), T.address_of(d[0]), T.address_of(d[1]), T.address_of(d[2]), T.address_of(d[3]))
