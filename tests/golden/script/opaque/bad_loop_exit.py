#: kernel = build(32)
import torch
from tvm.script import tirx as T


def build(n):
    for width in (2, 4, 8):
        if torch.works(width):
            break
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n * width,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_loop_exit.py:8:12: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
            if torch.works(width):
               ^~~~~~~~~~~~~~~~~~
bad_loop_exit.py:9:13: note: where the loop goes on depends on it
                break
                ^~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
