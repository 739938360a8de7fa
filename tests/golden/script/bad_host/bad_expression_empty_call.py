#: kernel = kernel(1,, 2)
from tvm.script import tirx as T

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:10: error: found `,`, expected an expression [Syntax]
    kernel(1,, 2)
             ^
