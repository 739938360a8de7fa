# Each name stands for twice the one before: what an index depends on was asked of all of them anew.
from tvm.script import tirx as T


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "float32")
    B = T.match_buffer(B_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    R = T.alloc_local((4,), "float32")
    for i in T.unroll(4):
        x0: T.let = i
        x1: T.let = (x0 + x0 + 1) % 4
        x2: T.let = (x1 + x1 + 1) % 4
        x3: T.let = (x2 + x2 + 1) % 4
        x4: T.let = (x3 + x3 + 1) % 4
        x5: T.let = (x4 + x4 + 1) % 4
        x6: T.let = (x5 + x5 + 1) % 4
        x7: T.let = (x6 + x6 + 1) % 4
        x8: T.let = (x7 + x7 + 1) % 4
        x9: T.let = (x8 + x8 + 1) % 4
        x10: T.let = (x9 + x9 + 1) % 4
        x11: T.let = (x10 + x10 + 1) % 4
        x12: T.let = (x11 + x11 + 1) % 4
        x13: T.let = (x12 + x12 + 1) % 4
        x14: T.let = (x13 + x13 + 1) % 4
        x15: T.let = (x14 + x14 + 1) % 4
        x16: T.let = (x15 + x15 + 1) % 4
        x17: T.let = (x16 + x16 + 1) % 4
        x18: T.let = (x17 + x17 + 1) % 4
        x19: T.let = (x18 + x18 + 1) % 4
        x20: T.let = (x19 + x19 + 1) % 4
        x21: T.let = (x20 + x20 + 1) % 4
        x22: T.let = (x21 + x21 + 1) % 4
        x23: T.let = (x22 + x22 + 1) % 4
        x24: T.let = (x23 + x23 + 1) % 4
        x25: T.let = (x24 + x24 + 1) % 4
        x26: T.let = (x25 + x25 + 1) % 4
        x27: T.let = (x26 + x26 + 1) % 4
        x28: T.let = (x27 + x27 + 1) % 4
        x29: T.let = (x28 + x28 + 1) % 4
        x30: T.let = (x29 + x29 + 1) % 4
        x31: T.let = (x30 + x30 + 1) % 4
        x32: T.let = (x31 + x31 + 1) % 4
        x33: T.let = (x32 + x32 + 1) % 4
        x34: T.let = (x33 + x33 + 1) % 4
        x35: T.let = (x34 + x34 + 1) % 4
        x36: T.let = (x35 + x35 + 1) % 4
        x37: T.let = (x36 + x36 + 1) % 4
        x38: T.let = (x37 + x37 + 1) % 4
        x39: T.let = (x38 + x38 + 1) % 4
        x40: T.let = (x39 + x39 + 1) % 4
        R[x40] = A[tid]
    for i in T.unroll(4):
        R[i] = A[tid] * 2.0
    B[tid] = R[0] + R[3]
