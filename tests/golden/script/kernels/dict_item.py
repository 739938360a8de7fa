#: kernel = KERNELS["wide", 2]
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(n)
    return kernel


KERNELS = {(name, i): build(n * i) for name, n in {"small": 8, "wide": 32}.items() for i in (1, 2)}
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (64,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(64.0)
