#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = len(f"{[n]:>8}")

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_format_list.py:6:15: error: format `>8` of list: list takes no format [Opaque]
        n = len(f"{[n]:>8}")
                  ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
