# By 0 a quotient is all bits and a remainder the dividend; the least number by -1 is itself, and so is its size. What is
# shifted by the width or more is gone.
from tvm.script import tirx as T


@T.prim_func
def kernel(C_ptr: T.handle, D_ptr: T.handle):
    C = T.match_buffer(C_ptr, (16, 7), "int32")
    D = T.match_buffer(D_ptr, (16, 5), "uint8")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([16])
    a = T.min_value("int32") + tid // 4
    b = tid % 4 - 1
    C[tid, 0] = a // b
    C[tid, 1] = a % b
    C[tid, 2] = T.truncdiv(a, b)
    C[tid, 3] = T.truncmod(a, b)
    C[tid, 4] = T.abs(a)
    C[tid, 5] = a >> (b * 40)
    C[tid, 6] = a << (b * 40)
    u = T.cast(tid * 17, "uint8")
    v = T.cast(tid % 4, "uint8")
    D[tid, 0] = u // v
    D[tid, 1] = u % v
    D[tid, 2] = T.truncdiv(u, v)
    D[tid, 3] = u << (v * T.uint8(4))
    D[tid, 4] = u >> (v * T.uint8(4))
