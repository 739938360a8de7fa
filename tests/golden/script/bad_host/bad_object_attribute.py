#: kernel = build(32)
from tvm.script import tirx as T


class Config:
    size: int


def build(n):
    c = Config(n)
    n = c.sise

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_object_attribute.py:11:11: error: an object of class `Config` has no `sise`; did you mean `size`? [UnknownName]
        n = c.sise
              ^~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
