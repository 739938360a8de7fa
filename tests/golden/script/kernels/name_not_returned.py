#: kernel = test_both(2)::second
from tvm.script import tirx as T


def test_both(n):
    @T.prim_func
    def first(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n * 32,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)

    @T.prim_func
    def second(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n * 32,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(2)
    run(first, second)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def second(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (64,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(2.0)
