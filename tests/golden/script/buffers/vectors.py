# Vectors of elements: vload, vstore, a slice with a step, a ramp.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    L0 = T.alloc_local((16,), "float32")
    v = A.vload([tx, 0], dtype="float32x4")
    L0.vstore([4], v)
    L0.vstore([0], A.vload([tx, 4], "float32x4") * T.Broadcast(T.float32(2), 4))
    L0[8:12:2] = L0[0:4:2]
    L0[T.Ramp(0, 1, 4)] = v
    L0[12:16] = v
    A[tx, 4:8] = v
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    L0 = T.alloc_local((16,))
    v: T.let[T.float32x4] = A.vload([tx, 0], dtype="float32x4")
    L0.vstore([4], v)
    L0.vstore([0], A.vload([tx, 4], dtype="float32x4") * T.Broadcast(T.float32(2.0), 4))
    L0[T.Ramp(8, 2, 2)] = L0[T.Ramp(0, 2, 2)]
    L0[T.Ramp(0, 1, 4)] = v
    L0.vstore([12], v)
    A.vstore([tx, 4], v)
