#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    try:
        size = {"a": 1}["b"]
    except KeyError:
        size = n

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (size,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_caught.py:13:36: error: this value is not known at compile time: no key 'b' in the dict [Opaque]
            B = T.match_buffer(B_ptr, (size,), "float32")
                                       ^~~~~
bad_caught.py:6:5: note: it comes from here
        try:
        ^~~
