#: kernel = fill.specialize(A="float16", B="int32")
# An element type that is not one of those, and one for a tensor that has its own.
import warpwright as ww
from warpwright.lang import T


@ww.kernel
def fill(A: ww.Tensor[32, {"float32", "int32"}], B: ww.Tensor[32, "int32"]):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    B[t] = 0
#--- expected
bad_type_choice.py:8:10: error: `A` was given elements of float16: expected float32, int32 [BadArgument]
    def fill(A: ww.Tensor[32, {"float32", "int32"}], B: ww.Tensor[32, "int32"]):
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_type_choice.py:8:50: error: the element type of `B` is not open: nothing can be given for it [BadArgument]
    def fill(A: ww.Tensor[32, {"float32", "int32"}], B: ww.Tensor[32, "int32"]):
                                                     ^~~~~~~~~~~~~~~~~~~~~~~~~
