# What `%` is applied to is a value, in an index too: it wraps, and the index is inside.
from tvm.script import tirx as T


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (1000,), "int32")
    B = T.match_buffer(B_ptr, (128,), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([128])
    B[tid] = A[(tid * 1103515245 + 12345) % 1000]
