# Bits of a 0 or 1 as a float16, and a shift by more than the width by a number. An assembler that knows better gets both wrong.
from tvm.script import tirx as T


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int64")
    B = T.match_buffer(B_ptr, (32, 4), "int64")
    C = T.match_buffer(C_ptr, (32, 2), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    x = A[tid]
    y = T.cast(x, "int32")
    B[tid, 0] = (x * -3 + 3) << (T.int64(0) + -3)
    B[tid, 1] = (x * 5 + 1) >> (T.int64(0) + 64)
    B[tid, 2] = T.cast((y * 7 - 1) << (T.int32(0) + 32), "int64")
    B[tid, 3] = T.cast(T.cast(y * 7 - 1, "uint32") >> (T.uint32(0) + 40), "int64")
    C[tid, 0] = T.cast(T.reinterpret("float16", T.cast(y >= y, "int16")), "float32")
    C[tid, 1] = T.cast(T.reinterpret("bfloat16", T.cast(y > 5, "uint16")), "float32")
