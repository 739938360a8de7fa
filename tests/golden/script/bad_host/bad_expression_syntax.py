#: kernel = kernel[0
from tvm.script import tirx as T

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:9: error: found the end of the text, expected `]` [Syntax]
    kernel[0
            ^
--kernel:1:7: note: `[` is opened here and never closed
    kernel[0
          ^
