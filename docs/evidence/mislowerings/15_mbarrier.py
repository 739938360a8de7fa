from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, 4), "float32")
    B = T.match_buffer(B_ptr, (32, 4), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    bar = T.alloc_shared([1], "uint64")
    M = T.alloc_buffer((32, 4), "float32", scope="shared")
    Tx.copy_async(M[tid, 0:4], A[tid, 0:4], mbar=T.address_of(bar))
    T.ptx.cp.async_.commit_group()
    T.ptx.cp.async_.wait_group(0)
    T.cuda.cta_sync()
    Tx.cta.copy(B[:, :], M[:, :])
