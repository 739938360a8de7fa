# A copy between two views of one array that overlap: no order of reading and writing is right in parallel.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def shift(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (128,), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    Tx.cta.copy(A[0:64], A[32:96])
