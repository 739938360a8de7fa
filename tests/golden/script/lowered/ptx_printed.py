# Instructions as the lowered form prints them.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (256,), "float16", layout=None)
    T.device_entry()
    threadIdx_x = T.launch_thread("threadIdx.x", 32)
    s0 = T.alloc_shared((256,), "float16", layout=None)
    r = T.alloc_local((8,), "float16", layout=None)
    d = T.alloc_local((4,), layout=None)
    t = T.alloc_local((4,), "uint32", layout=None)
    T.ptx.ldmatrix(T.bool(False), 2, ".b16", T.address_of(s0[0]), T.address_of(r[0]), T.address_of(r[2]))
    T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", 4, 4, 2, 4, False, T.address_of(d[0]), T.address_of(d[1]), T.address_of(d[2]), T.address_of(d[3]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(r[4]), T.address_of(r[6]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(d[0]), T.address_of(d[1]), T.address_of(d[2]), T.address_of(d[3]))
    T.ptx.tcgen05.ld(T.uint32(0), 0, 0, "32x32b", 4, False, t[0], t[1], t[2], t[3])
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (256,), "float16", layout=None)
    T.device_entry()
    threadIdx_x = T.launch_thread("threadIdx.x", 32)
    s0 = T.alloc_shared((256,), "float16")
    r = T.alloc_local((8,), "float16")
    d = T.alloc_local((4,))
    t = T.alloc_local((4,), "uint32")
    T.ptx.ldmatrix(T.bool(False), 2, ".b16", T.address_of(s0[0]), T.address_of(r[0]), T.address_of(r[2]))
    T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", 4, 4, 2, 4, False, T.address_of(d[0]), T.address_of(d[1]), T.address_of(d[2]), T.address_of(d[3]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(r[4]), T.address_of(r[6]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(d[0]), T.address_of(d[1]), T.address_of(d[2]), T.address_of(d[3]))
    T.ptx.tcgen05.ld(T.uint32(0), 0, 0, "32x32b", 4, False, t[0], t[1], t[2], t[3])
