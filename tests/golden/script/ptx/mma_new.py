# A product with registers one by one.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    d = T.alloc_local((4,), "float32")
    x = T.alloc_local((8,), "float16")
    w = x.view("uint32")
    y = T.alloc_local((2,), "uint32")
    T.ptx["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"](*[d[k] for k in range(4)], w[0], w[1], w[2], w[3], y[0], y[1], *[d[k] for k in range(4)])
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    d = T.alloc_local((4,))
    x = T.alloc_local((8,), "float16")
    w = T.decl_buffer((4,), "uint32", data=x.data, scope="local")
    y = T.alloc_local((2,), "uint32")
    T.ptx["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"](d[0], d[1], d[2], d[3], w[0], w[1], w[2], w[3], y[0], y[1], d[0], d[1], d[2], d[3])
