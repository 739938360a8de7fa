#: kernel = build(2)
import torch
from tvm.script import tirx as T

if torch.cuda.is_available():
    DEVICE = "cuda"
    SIZE = 4
else:
    DEVICE = "cpu"

N = 32


def build(n):
    if torch.cuda.device_count() > 1:
        print("several")
        unused = n
    if not torch.cuda.is_available():
        return
    assert torch.version.cuda >= "12", "old"

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n * N,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (64,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1.0)
