#: kernel = build(4)
from tvm.script import tirx as T

SCALE = 3


def build(n):
    """A kernel sees the arguments, the locals and the globals around it."""
    size = 8 * n
    half = lambda x: x // 2

    def twice(x):
        return 2 * x + half(size)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (size,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(twice(n) * SCALE)

    size = 1  # too late: the kernel is made
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(72.0)
