#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = len([1, 2][::0])

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_slice_step.py:6:13: error: a slice with step 0 [HostError]
        n = len([1, 2][::0])
                ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
