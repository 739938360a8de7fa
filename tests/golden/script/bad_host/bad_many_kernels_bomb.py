#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    while True:

        @T.prim_func
        def kernel(B_ptr: T.handle):
            B = T.match_buffer(B_ptr, (n,), "float32")
            T.device_entry()
            T.cta_id([1])
            tid = T.thread_id([32])
            B[tid] = T.float32(1)
    return kernel
#--- expected
bad_many_kernels_bomb.py:6:5: error: compile-time evaluation takes too much memory [Budget]
        while True:
        ^~~~~~~~~~
bad_many_kernels_bomb.py:6:5: note: in turn 77554 of this loop
        while True:
        ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
