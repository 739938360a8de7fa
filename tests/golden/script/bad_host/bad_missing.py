#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, b):
    return a


def build(n):
    n = helper(b=1)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_missing.py:10:9: error: `helper` without `a` [BadArgument]
        n = helper(b=1)
            ^~~~~~~~~~~
bad_missing.py:5:12: note: the parameter
    def helper(a, b):
               ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
