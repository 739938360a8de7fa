#: kernel = build("st")
from tvm.script import tirx as T


def build(direction, n=32):
    if direction == "ld":

        @T.prim_func
        def load(B_ptr: T.handle):
            B = T.match_buffer(B_ptr, (n,), "float32")
            T.device_entry()
            T.cta_id([1])
            tid = T.thread_id([32])
            B[tid] = T.float32(1)
        chosen = load
    elif direction == "st":

        @T.prim_func
        def store(B_ptr: T.handle):
            B = T.match_buffer(B_ptr, (n,), "float32")
            T.device_entry()
            T.cta_id([1])
            tid = T.thread_id([32])
            B[tid] = T.float32(2)
        chosen = store
    else:
        raise ValueError(f"unknown direction {direction}")
    return chosen
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def store(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(2.0)
