# The bits of a half in a register for integers.
from tvm.script import tirx as T


@T.prim_func
def f(A: T.Buffer((32,), "float16"), B: T.Buffer((32,), "float32"), C: T.Buffer((32,), "uint16")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    bits: T.uint16[2]
    T.ptx["ld.global.b16"](bits[0], A.ptr_to([t]))
    T.ptx["cvt.rn.f16.f32"](bits[1], B[t])
    T.ptx["add.rn.f16"](bits[0], bits[0], bits[1])
    C[t] = bits[0]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((32,), "float16"), B: T.Buffer((32,)), C: T.Buffer((32,), "uint16")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    bits = T.alloc_local((2,), "uint16")
    T.ptx["ld.global.b16"](bits[0], T.address_of(A[t]))
    T.ptx["cvt.rn.f16.f32"](bits[1], B[t])
    T.ptx["add.rn.f16"](bits[0], bits[0], bits[1])
    C[t] = bits[0]
