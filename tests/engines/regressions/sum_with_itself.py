# A sum of itself with itself, sixty times over: small as a graph, endless when written out.
from tvm.script import tirx as T


def doubled(x):
    for i in range(60):
        x = x + x
    return x


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "float32")
    B = T.match_buffer(B_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    B[tid] = doubled(A[tid])
