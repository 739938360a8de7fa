#: kernel = build(32)
from tvm.script import tirx as T


class Config:
    size: int
    rows: int = 1


def build(n):
    n = Config(n, 1, 2)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_object_many.py:11:22: error: `Config` with 3 arguments, expected at most 2 [BadArgument]
        n = Config(n, 1, 2)
                         ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
