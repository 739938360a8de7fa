# fmod is exact, however often the divisor goes into the dividend. By a subnormal number it never ended.
from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle, C_ptr: T.handle, D_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    C = T.match_buffer(C_ptr, (32,), "float64")
    D = T.match_buffer(D_ptr, (32,), "float64")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    x = T.reinterpret("float32", T.uint32(0x7149F2CA) - T.cast(tid, "uint32") * T.uint32(0x07F00001))
    B[tid] = T.fmod(x, T.float32(0.7))
    y = T.reinterpret("float64", T.uint64(0x7FE1234567890123) - T.cast(tid, "uint64") * T.uint64(0x03F0000000000001))
    C[tid] = T.fmod(y, T.float64(3e-300))
    tiny = T.reinterpret("float64", T.uint64(1) + (T.cast(tid, "uint64") * T.uint64(0x123456789) << T.cast(tid % 16, "uint64")))
    D[tid] = T.fmod(y, tiny)
