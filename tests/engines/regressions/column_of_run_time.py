# A single column whose rows are as far apart as an extent known at launch: every thread read row 0.
# target sm_90a, n0 = 3
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    n0 = T.int32()
    A = T.match_buffer(A_ptr, (64, n0), "float32")
    B = T.match_buffer(B_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    tile = T.alloc_shared((64, 8), "float32")
    Tx.cta.copy(tile[0:64, 0:1], A[0:64, 1:2], fill_mode="zero")
    T.cuda.cta_sync()
    B[tid] = tile[tid, 0]
