# The groups of wgmma as functions.
from tvm.script import tirx as T


@T.prim_func
def f(A: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([128])
    T.ptx.wgmma.fence()
    T.ptx.wgmma.commit_group()
    T.ptx.wgmma.wait_group(0)
    A[t] = 0.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((128,))):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([128])
    T.ptx["wgmma.fence.sync.aligned"]()
    T.ptx["wgmma.commit_group.sync.aligned"]()
    T.ptx["wgmma.wait_group.sync.aligned"](0)
    A[t] = T.float32(0.0)
