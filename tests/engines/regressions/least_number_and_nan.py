# The size of the least number is below 0, and that of NaN is not 0 or more. An assembler that knows better folds both.
from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle, C_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32, 9), "int32")
    C = T.match_buffer(C_ptr, (32,), "int64")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    x = T.reinterpret("int32", T.uint32(0x7FFFFFF8) + T.cast(tid, "uint32"))
    y = T.reinterpret("int64", T.uint64(0x7FFFFFFFFFFFFFF8) + T.cast(tid, "uint64"))
    f = T.reinterpret("float32", T.uint32(0x7F7FFFF8) + T.cast(tid, "uint32") * T.uint32(0x80001))
    B[tid, 0] = T.cast(T.abs(x) < 0, "int32")
    B[tid, 1] = T.min(T.abs(x), 5)
    B[tid, 2] = T.cast(T.abs(f) >= T.float32(0), "int32")
    B[tid, 3] = T.cast(T.float32(0) <= f * f, "int32")
    B[tid, 4] = T.cast(T.float32(-1) < T.exp2(f), "int32")
    B[tid, 5] = T.cast(T.abs(f) + T.float32(1) > T.float32(0.5), "int32")
    B[tid, 6] = 1
    if T.abs(f) >= T.float32(0):
        B[tid, 6] = 2
    B[tid, 7] = T.cast(T.abs(T.cast(x, "int8")) < 0, "int32")
    B[tid, 8] = T.cast(T.max(x, T.abs(x)) < x + x, "int32")
    C[tid] = T.min(T.abs(y), T.int64(9))
