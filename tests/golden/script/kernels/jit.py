#: kernel = scale.specialize(n=64, factor=3)
from tvm.script import tirx as T


@T.jit
def scale(B_ptr: T.handle, n: T.constexpr, *, factor: T.constexpr = 2):
    B = T.match_buffer(B_ptr, (n,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([n])
    B[tid] = B[tid] * factor
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def scale(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (64,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    B[tid] = B[tid] * T.float32(3.0)
