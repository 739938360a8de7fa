# Barriers, and one lane elected.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    T.ptx.bar.sync(0)
    T.ptx.bar.sync(1, 64)
    T.ptx["barrier.sync.aligned"](0)
    T.ptx.setmaxnreg.inc.sync.aligned.u32(232)
    if T.ptx.elect_sync():
        T.ptx["prefetch.global.L2"](A.ptr_to([0, 0]))
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    T.ptx["bar.sync"](T.uint32(0))
    T.ptx["bar.sync"](T.uint32(1), T.uint32(64))
    T.ptx["barrier.sync.aligned"](T.uint32(0))
    T.ptx["setmaxnreg.inc.sync.aligned.u32"](232)
    if T.cuda.elect_sync() != T.uint32(0):
        T.ptx["prefetch.global.L2"](T.address_of(A[0, 0]))
