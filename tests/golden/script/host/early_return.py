#: kernel = build("plain")
from tvm.script import tirx as T


def pick(kind):
    if kind == "double":
        return 2.0
    elif kind == "plain":
        return 1.0
    return 0.0


def build(kind):
    for i in range(10):
        if i == 3:
            break
    while True:
        i += 1
        if i > 5:
            break
    else:
        i = 99
    if kind == "none":
        return None

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (32 + i,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(pick(kind))
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (38,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1.0)
