#: kernel = build(32)
import torch
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def fast(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)

    @T.prim_func
    def slow(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(2)

    if torch.cuda.get_device_capability()[0] >= 9:
        return fast
    return slow
#--- expected
bad_return.py:23:8: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
        if torch.cuda.get_device_capability()[0] >= 9:
           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_return.py:23:8: note: it comes from here
        if torch.cuda.get_device_capability()[0] >= 9:
           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_return.py:24:9: note: what the function returns depends on it
            return fast
            ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
