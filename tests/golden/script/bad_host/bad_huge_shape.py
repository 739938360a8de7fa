#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = 2**70

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_huge_shape.py:10:36: error: the constant 1180591620717411303424 does not fit 64 bits [Overflow]
            B = T.match_buffer(B_ptr, (n,), "float32")
                                       ^~
