#: kernel = fill.specialize(VALUE=3)
# A kernel of the package may have constants; other names of the package are opaque.
from warpwright import Tensor, kernel
from warpwright.lang import T

import warpwright

compiled = warpwright.compile("other.py")


@kernel(target="sm_80")
def fill(A: Tensor[32, "int32"], VALUE: T.constexpr):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = VALUE
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def fill(A: T.Buffer((32,), "int32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = 3
