# As TVM prints extents of run time: quoted in the first shape, by name later, and once more inside.
@T.prim_func
def f(A: T.Buffer(("n", 64), "float32"), B: T.Buffer((n, 64), "float32")):
    n = T.int32()
    T.device_entry()
    b = T.cta_id([n])
    t = T.thread_id([64])
    B[b, t] = A[b, t]
    T.ptx.fence("acq_rel", "gpu", "")
    x: T.float32
    T.ptx.rcp(x, A[b, t], "approx", "ftz", "f32", "")
    T.ptx.setmaxnreg(232, "inc", "sync", "aligned", "u32", "")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer(("n", 64)), B: T.Buffer(("n", 64))):
    T.device_entry()
    b = T.cta_id([n])
    t = T.thread_id([64])
    B[b, t] = A[b, t]
    T.ptx["fence.acq_rel.gpu"]()
    x: T.float32
    T.ptx["rcp.approx.ftz.f32"](x, A[b, t])
    T.ptx["setmaxnreg.inc.sync.aligned.u32"](232)
