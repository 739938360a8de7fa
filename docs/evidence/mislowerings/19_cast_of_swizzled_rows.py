from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import ComposeLayout, S, TileLayout


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, 8), "float32")
    B = T.match_buffer(B_ptr, (32, 8), "float16")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    wide = T.alloc_buffer((32, 8), "float32", scope="shared",
                          layout=ComposeLayout(0, 2, 2, TileLayout(S[(32, 8) : (8, 1)])))
    narrow = T.alloc_buffer((32, 8), "float16", scope="shared")
    for i in T.serial(8):
        wide[tid, i] = A[tid, i]
    T.cuda.cta_sync()
    Tx.cta.cast(narrow[:, :], wide[:, :])
    T.cuda.cta_sync()
    for i in T.serial(8):
        B[tid, i] = narrow[tid, i]
