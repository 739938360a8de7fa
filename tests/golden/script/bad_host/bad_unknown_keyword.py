#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, length=1):
    return a


def build(n):
    n = helper(1, lenght=2)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_unknown_keyword.py:10:19: error: `helper` has no parameter `lenght`; did you mean `length`? [BadArgument]
        n = helper(1, lenght=2)
                      ^~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
