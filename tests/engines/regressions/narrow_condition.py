# A difference of int8 wraps in a condition as it does in a value. Behind an `if` it became `a > b + 50`.
from tvm.script import tirx as T


@T.prim_func
def kernel(C_ptr: T.handle):
    C = T.match_buffer(C_ptr, (128, 2), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([128])
    a = T.cast(tid * 37, "int8")
    b = T.cast(tid * 91 + 5, "int8")
    C[tid, 0] = T.Select(a - b > T.int8(50), 1, 0)
    C[tid, 1] = 0
    if a - b > T.int8(50):
        C[tid, 1] = 1
