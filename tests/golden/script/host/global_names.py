#: kernel = build()
from tvm.script import tirx as T

COUNT = 0


def bump():
    global COUNT
    COUNT += 1
    return COUNT


def counter():
    n = 10

    def step():
        nonlocal n
        n += 1
        return n

    step()
    return step


def build():
    bump()
    bump()
    step = counter()

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (bump(),), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(step())
    assert COUNT == 3
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (3,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(12.0)
