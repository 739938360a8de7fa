# -1 as uint16 is 65535, also where it is cast to a wider type in an index. Lowered code read element 0.
from tvm.script import tirx as T


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (512,), "int32")
    B = T.match_buffer(B_ptr, (32, 2), "int32")
    T.device_entry()
    bx = T.cta_id([1])
    tid = T.thread_id([32])
    below: T.uint16 = -(T.cast(bx, "uint16") + 1)
    B[tid, 0] = A[T.max(T.min(T.cast(below, "int32"), 511), 0)]
    B[tid, 1] = A[T.cast(T.cast(bx, "uint8") - 1, "int32")]
