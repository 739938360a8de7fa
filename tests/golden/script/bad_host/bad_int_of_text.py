#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = int("12a")

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_int_of_text.py:6:9: error: '12a' is not an integer [Opaque]
        n = int("12a")
            ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
