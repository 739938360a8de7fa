#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = f"{n:{10**9}}"

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_format_width_bomb.py:6:11: error: format `1000000000` of int: it is too wide [Opaque]
        x = f"{n:{10**9}}"
              ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
