# The row ends in the middle of a word: the evaluator read the whole word, past the end.
# target sm_80, n0 = 157
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    n0 = T.int32()
    A = T.match_buffer(A_ptr, (1, n0), "uint8")
    B = T.match_buffer(B_ptr, (1, 160), "uint8")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    tile = T.alloc_shared((1, 160), "uint8")
    Tx.cta.copy_async(tile[0:1, 0:160], A[0:1, 0:160], fill_mode="zero")
    T.ptx.cp_async.commit_group()
    T.ptx.cp_async.wait_group(0)
    T.cuda.cta_sync()
    Tx.cta.copy(B[0:1, 0:160], tile[0:1, 0:160])
