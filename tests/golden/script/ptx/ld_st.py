# Loads and stores; values keep their class.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_shared((64,), "float32")
    x: T.float32
    y: T.float32
    r = T.alloc_local((4,), "float32")
    T.ptx.st.shared.v4.f32(s0.ptr_to([0]), r[0], r[1], r[2], r[3])
    T.ptx.ld.shared.v2.f32(x, y, s0.ptr_to([tx]))
    T.ptx.ld.global_.f32(x, A.ptr_to([0, 0]))
    T.ptx.ld.global_.f32(x, T.ptx.addr(A.ptr_to([0, 0]), 16))
    T.ptx.ld.global_.nc.f32(x, A.ptr_to([0, 0]), pred=tx < 3)
    T.ptx.st.shared.f32(T.cuda.cvta_generic_to_shared(s0.data), 1.0, pred=tx == 0)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_shared((64,))
    x: T.float32
    y: T.float32
    r = T.alloc_local((4,))
    T.ptx["st.shared.v4.f32"](T.address_of(s0[0]), r[0], r[1], r[2], r[3])
    T.ptx["ld.shared.v2.f32"](x, y, T.address_of(s0[tx]))
    T.ptx["ld.global.f32"](x, T.address_of(A[0, 0]))
    T.ptx["ld.global.f32"](x, T.ptx.addr(T.address_of(A[0, 0]), 16))
    T.ptx["ld.global.nc.f32"](x, T.address_of(A[0, 0]), pred=tx < 3)
    T.ptx["st.shared.f32"](T.cuda.cvta_generic_to_shared(s0.data), T.float32(1.0), pred=tx == 0)
