#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    if n % 3:
        raise ValueError(f"{n} rows do not split into 3")

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_raise.py:7:9: error: `ValueError` is raised: 32 rows do not split into 3 [HostError]
            raise ValueError(f"{n} rows do not split into 3")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
