#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    r = range(1000)
    n = [a for a in r for b in r for c in r]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_comprehension_bomb.py:7:43: error: compile-time evaluation takes too much memory [Budget]
        n = [a for a in r for b in r for c in r]
                                              ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
