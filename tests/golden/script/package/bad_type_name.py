# A misspelt element type is none of the extents.
import warpwright as ww
from warpwright.lang import T


@ww.kernel
def fill(A: ww.Tensor[32, "flaot32"]):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = t
#--- expected
bad_type_name.py:7:13: error: an element type `flaot32`; did you mean `float32`? [BadBuffer]
    def fill(A: ww.Tensor[32, "flaot32"]):
                ^~~~~~~~~~~~~~~~~~~~~~~~
