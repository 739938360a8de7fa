import numpy as np
from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = np.sqrt(B[tid])
    if np.float32(0):
        B[0] = 1.0
#--- expected
bad_opaque_call_in_kernel.py:11:14: error: this value is not known at compile time: module `numpy` is not modelled [Opaque]
        B[tid] = np.sqrt(B[tid])
                 ^~~~~~~~~~~~~~~
bad_opaque_call_in_kernel.py:12:8: error: this value is not known at compile time: module `numpy` is not modelled [Opaque]
        if np.float32(0):
           ^~~~~~~~~~~~~
