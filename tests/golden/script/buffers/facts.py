# Facts of buffers are compile-time values.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    B = T.alloc_shared((A.shape[0] // 2, A.shape[1]), A.dtype)
    if B.scope() == "shared":
        B[0, 0] = A[0, 0]
    else:
        B[0, 0] = A[0, 1]
    C = T.alloc_local((4,), "float32")
    C[0] = T.cast(B.elem_offset, "float32")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    B = T.alloc_buffer((8, 16), scope="shared")
    B[0, 0] = A[0, 0]
    C = T.alloc_local((4,))
    C[0] = T.float32(0.0)
