#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    a, b = n

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_unpack_number.py:6:5: error: cannot iterate over int [HostError]
        a, b = n
        ^~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
