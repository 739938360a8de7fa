#: kernel = build(32)
from tvm.script import tirx as T


def first(x):
    return second(x) + 1


def second(x):
    return third[x]


third = [1]


def build(n):
    n = first(n)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_in_helper.py:10:12: error: index 32 of a list of 1 [HostError]
        return third[x]
               ^~~~~~~~
bad_in_helper.py:6:12: note: in a call of `second`
        return second(x) + 1
               ^~~~~~~~~
bad_in_helper.py:17:9: note: in a call of `first`
        n = first(n)
            ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
