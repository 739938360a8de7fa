# The sign of a product of a parameter is not known: it wraps. The proof of the copy failed over it.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (128, 64), "float16")
    B = T.match_buffer(B_ptr, (128, 64), "float16")
    T.device_entry()
    bx = T.cta_id([2])
    T.thread_id([128])
    s = T.alloc_shared((64, 64), "float16")
    Tx.cta.fill(s[:, :], T.float16(7))
    T.cuda.cta_sync()
    Tx.cta.copy(s[:, :], A[bx * 64 : bx * 64 + 64, 0:64], predicate=(bx + 2) * 1103515245 < 0)
    T.cuda.cta_sync()
    Tx.cta.copy(B[bx * 64 : bx * 64 + 64, 0:64], s[:, :])
