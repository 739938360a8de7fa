#: kernel = test(3)::kernel
import numpy as np
import tvm
from tvm.script import tirx as T


def test(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n * 32,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(n)
    mod = tvm.compile(tvm.IRModule({"main": kernel}), target="cuda")
    if not mod.ok():
        return None
    for x in np.arange(n):
        np.testing.assert_allclose(mod(x), x)
    return mod
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (96,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(3.0)
