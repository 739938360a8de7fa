from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (3, 4), "float32", layout=TileLayout(S[(3, 4) : (1, 3)]))
    B = T.match_buffer(B_ptr, (3, 4), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    M = T.alloc_buffer((3, 4), "float32", scope="shared", layout=TileLayout(S[(4, 3) : (1, 4)]))
    Tx.cta.copy(M[:, :], A[:, :])
    T.cuda.cta_sync()
    Tx.cta.copy(B[:, :], M[:, :])
