import torch
from tvm.script import tirx as T

N = 32
if torch.cuda.is_available():
    N = 64

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (N,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
bad_condition.py:10:32: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
        B = T.match_buffer(B_ptr, (N,), "float32")
                                   ^~
bad_condition.py:5:1: note: it comes from here
    if torch.cuda.is_available():
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
