#: kernel = build(32)::kernel
from tvm.script import tirx as T


def build(n):
    assert n < 10
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_named_unknown_failure.py:6:5: error: assertion failed [HostError]
        assert n < 10
        ^~~~~~~~~~~~~
  note: `n` is 32
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
