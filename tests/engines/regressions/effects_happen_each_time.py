# A call with an effect that stands in an expression twice happens twice, and what is read behind it is read again. PTX
# kept the value of an expression that the program shares.
from tvm.script import tirx as T


def double(x):
    return x + x


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int32")
    B = T.match_buffer(B_ptr, (32, 2), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    s = T.alloc_shared((32,), "int32")
    s[tid] = A[tid]
    B[tid, 0] = double(double(T.cuda.atomic_add(T.address_of(s[tid]), 1)))
    here = [s[tid]][0] + 0 * tid
    B[tid, 1] = (s[tid] * 3 + T.cuda.atomic_add(T.address_of(s[tid]), 5)) + s[tid] * 3 + here
