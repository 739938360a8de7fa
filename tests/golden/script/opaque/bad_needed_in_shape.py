#: kernel = build()
import numpy as np
from tvm.script import tirx as T

N = int(np.prod((4, 8)))
size = N + 1


def build():
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (size,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_needed_in_shape.py:12:36: error: this value is not known at compile time: module `numpy` is not modelled [Opaque]
            B = T.match_buffer(B_ptr, (size,), "float32")
                                       ^~~~~
bad_needed_in_shape.py:5:9: note: it comes from here
    N = int(np.prod((4, 8)))
            ^~~~~~~~~~~~~~~
