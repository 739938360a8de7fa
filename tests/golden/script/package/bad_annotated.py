# `Annotated` has brackets, and a tensor a shape.
from typing import Annotated

import warpwright as ww
from warpwright.lang import T


@ww.kernel
def fill(A: Annotated[ww.Tensor, "int32"], B: Annotated(ww.Tensor, "n")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = t
#--- expected
bad_annotated.py:9:13: error: a tensor without a shape: expected `ww.Tensor["n", "float32"]` [BadBuffer]
    def fill(A: Annotated[ww.Tensor, "int32"], B: Annotated(ww.Tensor, "n")):
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_annotated.py:9:47: error: `Annotated` is written with brackets, not called [BadType]
    def fill(A: Annotated[ww.Tensor, "int32"], B: Annotated(ww.Tensor, "n")):
                                                  ^~~~~~~~~~~~~~~~~~~~~~~~~
