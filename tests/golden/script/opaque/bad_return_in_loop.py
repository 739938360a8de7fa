#: kernel = build(32)
import torch
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)

    for device in torch.cuda.devices():
        if device.ok:
            return kernel
    return None
#--- expected
bad_return_in_loop.py:15:19: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
        for device in torch.cuda.devices():
                      ^~~~~~~~~~~~~~~~~~~~
bad_return_in_loop.py:17:13: note: what the function returns depends on it
                return kernel
                ^~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
