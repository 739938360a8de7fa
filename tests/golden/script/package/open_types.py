#: kernel = scaled.specialize(A="float16", B="float32", N=64)
# Element types and extents that the kernel expression chooses.
import warpwright as ww
from warpwright.lang import T


@ww.kernel
def scaled(A: ww.Tensor["m", "N"], B: ww.Tensor["m", "N", {"float32", "float64"}], N: T.constexpr):
    T.device_entry()
    b = T.cta_id([A.shape[0]])
    t = T.thread_id([N])
    B[b, t] = T.cast(A[b, t], B.dtype) * 2
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def scaled(A: T.Buffer(("m", 64), "float16"), B: T.Buffer(("m", 64))):
    T.device_entry()
    b = T.cta_id([m])
    t = T.thread_id([64])
    B[b, t] = T.Cast("float32", A[b, t]) * T.float32(2.0)
