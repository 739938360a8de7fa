# Without its element type a tensor is open; the kernel expression gives it.
import warpwright as ww
from warpwright.lang import T


@ww.kernel
def fill(A: ww.Tensor[32], B: ww.Tensor["n", 4, {"float16", "bfloat16"}]):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = 0
#--- expected
bad_open_type.py:7:10: error: the element type of `A` is open [BadArgument]
    def fill(A: ww.Tensor[32], B: ww.Tensor["n", 4, {"float16", "bfloat16"}]):
             ^~~~~~~~~~~~~~~~
  note: a call in Python takes it from the array; a kernel expression gives it with `.specialize(A="float32")`
bad_open_type.py:7:28: error: the element type of `B` is open; it is one of float16, bfloat16 [BadArgument]
    def fill(A: ww.Tensor[32], B: ww.Tensor["n", 4, {"float16", "bfloat16"}]):
                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a call in Python takes it from the array; a kernel expression gives it with `.specialize(B="float16")`
