#: kernel = build(np.int32(4))
import numpy as np
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
bad_expression.py:9:36: error: this value is not known at compile time: module `numpy` is not modelled [Opaque]
            B = T.match_buffer(B_ptr, (n,), "float32")
                                       ^~
--kernel:1:7: note: it comes from here
    build(np.int32(4))
          ^~~~~~~~~~~
