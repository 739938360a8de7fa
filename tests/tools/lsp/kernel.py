# A copy through shared memory, with one misspelt word for the tests of editors.
#
#   warpwright run kernel.py --expect 'B == A'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def move(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64, 32), "float32")
    B = T.match_buffer(B_ptr, (64, 32), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    staged = T.alloc_buffer((64, 32), "float32", scope="shared")
    Tx.cta.copy(staged[:, :], A[:, :])
    T.cuda.cta_synk()
    Tx.cta.copy(B[:, :], staged[:, :])
