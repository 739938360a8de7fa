#: kernel = build(32)  steps = 100000
from tvm.script import tirx as T


def build(n):
    while True:
        n += 1

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_while_true.py:7:14: error: compile-time evaluation takes too many steps [Budget]
            n += 1
                 ^
bad_while_true.py:6:5: note: in turn 19999 of this loop
        while True:
        ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
