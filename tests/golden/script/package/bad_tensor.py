# A tensor needs a shape.
import warpwright as ww
from warpwright.lang import T


@ww.kernel
def fill(A: ww.Tensor["int32"]):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = t
#--- expected
bad_tensor.py:7:13: error: a tensor without a shape: expected `ww.Tensor["n", "float32"]` [BadBuffer]
    def fill(A: ww.Tensor["int32"]):
                ^~~~~~~~~~~~~~~~~~
