#: kernel = build(32)
from tvm.script import tirx as T


def helper(**k):
    return 1


def build(n):
    n = helper(**[1])

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_keywords_of_list.py:10:18: error: `**` of list, expected a dict [HostError]
        n = helper(**[1])
                     ^~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
