# An index of six hundred operations inside each other; a host function may make any number.
from tvm.script import tirx as T


def mixed(x):
    for i in range(200):
        x = (x * 3 + 1) % 64
    return x


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "float32")
    B = T.match_buffer(B_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    B[mixed(tid)] = A[tid]
