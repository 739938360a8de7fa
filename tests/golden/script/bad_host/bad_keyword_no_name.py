#: kernel = build(32)
from tvm.script import tirx as T


def helper(**k):
    return 1


def build(n):
    n = helper(**{"a b": n})

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_keyword_no_name.py:10:18: error: keyword 'a b', expected a name [HostError]
        n = helper(**{"a b": n})
                     ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
