#: kernel = kernel(1)
from tvm.script import tirx as T

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:1: error: kernel `kernel` cannot be called [BadType]
    kernel(1)
    ^~~~~~~~~
  note: name it without parentheses; `warpwright run --kernel kernel` launches it
