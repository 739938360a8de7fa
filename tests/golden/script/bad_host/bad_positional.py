#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, b):
    return a


def build(n):
    n = helper(1, 2, 3)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_positional.py:10:22: error: `helper` with 3 positional arguments, expected 2 [BadArgument]
        n = helper(1, 2, 3)
                         ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
