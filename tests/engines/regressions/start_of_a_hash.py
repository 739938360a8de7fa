# The start of a region is a remainder of what wraps: it lies inside of A. Lowered code read before A.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (1064,), "int32")
    B = T.match_buffer(B_ptr, (8, 64), "int32")
    T.device_entry()
    bx = T.cta_id([8])
    T.thread_id([64])
    s = (bx * 1103515245 + 12345) % 1000
    Tx.cta.copy(B[bx, 0:64], A[s : s + 64])
