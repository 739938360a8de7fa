#: kernel = build(64, value=2)
from tvm.script import tirx as T


def build(n, value=1):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(value)
    return kernel
