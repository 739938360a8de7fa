#: kernel = outer(2)(3)
from tvm.script import tirx as T


def outer(a):
    def middle(b):
        def inner(c):
            return a * 100 + b * 10 + c

        @T.prim_func
        def kernel(B_ptr: T.handle):
            B = T.match_buffer(B_ptr, (a * b * 32,), "float32")
            T.device_entry()
            T.cta_id([1])
            tid = T.thread_id([32])
            B[tid] = T.float32(inner(4))
        return kernel

    return middle
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (192,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(234.0)
