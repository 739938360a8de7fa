# Matrix loads and stores by opcode; words may come in any order.
num = 1

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx["ldmatrix.sync.aligned.m8n8.x2.shared.b16"](r[0], r[1], sm.ptr_to([0]))
    T.ptx.ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16(r[0], r[1], r[2], r[3], sm.ptr_to([0]))
    T.ptx[f"ldmatrix.sync.aligned.m8n8.x{num}.shared.b16"](*[r[k] for k in range(num)], sm.ptr_to([0]))
    T.ptx["stmatrix.sync.aligned.m8n8.x1.shared.b16"](sm.ptr_to([0]), r[0])
    T.ptx.ldmatrix.x2.m8n8.aligned.sync.b16.shared(r[0], r[1], sm.ptr_to([0]))
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
    T.ptx["ldmatrix.sync.aligned.m8n8.x2.shared.b16"](r[0], r[1], T.address_of(sm[0]))
    T.ptx["ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"](r[0], r[1], r[2], r[3], T.address_of(sm[0]))
    T.ptx["ldmatrix.sync.aligned.m8n8.x1.shared.b16"](r[0], T.address_of(sm[0]))
    T.ptx["stmatrix.sync.aligned.m8n8.x1.shared.b16"](T.address_of(sm[0]), r[0])
    T.ptx["ldmatrix.sync.aligned.m8n8.x2.shared.b16"](r[0], r[1], T.address_of(sm[0]))
