# One round makes the index a constant outside of the array, where the condition keeps it from being
# read: lowering refused its own program.
from tvm.script import tirx as T


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "int32")
    B = T.match_buffer(B_ptr, (32, 2), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    for i in T.unroll(-2, -1):
        B[tid, 0] = T.if_then_else(i >= 0 and i < 64, A[i], tid)
        B[tid, 1] = tid * 3
        if i >= 0:
            B[tid, 1] = A[i]
