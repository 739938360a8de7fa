#: kernel = kernel
from tvm.script import tirx as T

N = 4000000


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = sum(tid * i for i in range(N))
#--- expected
bad_kernel_bomb.py:13:35: error: compile-time evaluation takes too much memory [Budget]
        B[tid] = sum(tid * i for i in range(N))
                                      ^~~~~~~~
