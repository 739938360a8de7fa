# Arithmetic by opcode; a trailing _ escapes keywords.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x: T.float32
    u: T.uint32
    i: T.int32
    T.ptx.add.f32(x, x, 1.0)
    T.ptx.fma.rn.f32(x, x, 2.0, x)
    T.ptx.ex2.approx.f32(x, x)
    T.ptx.mul.lo.s32(i, i, tx)
    T.ptx.and_.b32(u, u, 255)
    T.ptx["mov.b32"](u, x)
    T.ptx.cvt.rn.f32.s32(x, i)
    T.ptx.selp.b32(u, u, 7, T.ptx.pred(tx < 2))
    T.ptx.setp.lt.s32(u, i, tx)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.float32
    u: T.uint32
    i: T.int32
    T.ptx["add.f32"](x, x, T.float32(1.0))
    T.ptx["fma.rn.f32"](x, x, T.float32(2.0), x)
    T.ptx["ex2.approx.f32"](x, x)
    T.ptx["mul.lo.s32"](i, i, tx)
    T.ptx["and.b32"](u, u, T.uint32(255))
    T.ptx["mov.b32"](u, x)
    T.ptx["cvt.rn.f32.s32"](x, i)
    T.ptx["selp.b32"](u, u, T.uint32(7), T.ptx.pred(tx < 2))
    T.ptx["setp.lt.s32"](u, i, tx)
