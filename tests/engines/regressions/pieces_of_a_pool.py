# Two pieces of a pool are apart, wherever in them a region begins. Such a copy was declined.
# target sm_90a, n = 1
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle, n: T.int32):
    A = T.match_buffer(A_ptr, (4, 64), "float32")
    B = T.match_buffer(B_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    pool = T.SMEMPool()
    stages = pool.alloc((4, 64), "float32")
    kept = pool.alloc((2, 64), "float32")
    pool.commit()
    Tx.cta.copy(stages[:, :], A[:, :])
    T.cuda.cta_sync()
    Tx.cta.copy(kept[n % 2, 0:64], stages[n % 4, 0:64])
    T.cuda.cta_sync()
    Tx.cta.copy(B[0:64], kept[n % 2, 0:64])
