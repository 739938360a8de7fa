#: kernel = fill.specialize(B="int32", N=32)
# The spelling for type checkers; of other types the remarks do not count.
import typing
from typing import Annotated

import warpwright as ww
from warpwright.lang import T


@ww.kernel
def fill(
    A: Annotated[ww.Tensor, "N", "int32"],
    B: typing.Annotated[ww.Tensor, "n"],
    by: Annotated[T.int32, "a factor"],
    N: T.constexpr,
):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([N])
    A[t] = t * by
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def fill(A: T.Buffer((32,), "int32"), B: T.Buffer(("n",), "int32"), by: T.int32):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = t * by
