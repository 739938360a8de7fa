#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    sizes = {"small": 8, "large": 64}
    n = sizes["smal"]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_key.py:7:9: error: no key 'smal' in the dict; did you mean `small`? [HostError]
        n = sizes["smal"]
            ^~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
