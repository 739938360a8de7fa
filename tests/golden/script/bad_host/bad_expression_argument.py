#: kernel = build(32, m=2)
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
--kernel:1:11: error: `build` has no parameter `m` [BadArgument]
    build(32, m=2)
              ^
