#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = list(zip(*[range(4000000)] * 100))

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_zip_bomb.py:6:14: error: `zip` of too many values [Budget]
        n = list(zip(*[range(4000000)] * 100))
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
