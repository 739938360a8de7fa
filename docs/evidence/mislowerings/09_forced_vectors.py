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
    R = T.alloc_buffer((4, 4), "float32", scope="local", layout=TileLayout(S[(4, 4) : (1, 4)]))
    Tx.copy(R[0, 0:4], A[tid, 0:4], dispatch="vec_128b")
    Tx.copy(B[tid, 0:4], R[0, 0:4])
