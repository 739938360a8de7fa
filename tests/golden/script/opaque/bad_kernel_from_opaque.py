#: kernel = cached(32)
import joblib
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel


cached = joblib.Memory("/tmp").cache(build)
#--- expected
--kernel:1:1: error: this value is not known at compile time: module `joblib` is not modelled [Opaque]
    cached(32)
    ^~~~~~~~~~
