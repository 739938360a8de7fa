#: kernel = N + 1
from tvm.script import tirx as T

N = 3

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:1: error: the expression gives int, expected a kernel [NotAKernel]
    N + 1
    ^~~~~
