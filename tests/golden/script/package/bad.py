#=== annotated
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
annotated.py:9:13: error: a tensor without a shape: expected `ww.Tensor["n", "float32"]` [BadBuffer]
    def fill(A: Annotated[ww.Tensor, "int32"], B: Annotated(ww.Tensor, "n")):
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
annotated.py:9:47: error: `Annotated` is written with brackets, not called [BadType]
    def fill(A: Annotated[ww.Tensor, "int32"], B: Annotated(ww.Tensor, "n")):
                                                  ^~~~~~~~~~~~~~~~~~~~~~~~~
#=== name
# What the package's language does not have.
from warpwright import kernel
from warpwright.lang import T, lanid


@kernel
def fill(A: T.Buffer((32,), "int32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = T.int32(lanid)
#--- expected
name.py:11:12: error: this value is not known at compile time: `lanid` of module `warpwright.lang` is not modelled [Opaque]
        A[t] = T.int32(lanid)
               ^~~~~~~~~~~~~~
name.py:3:32: note: it comes from here
    from warpwright.lang import T, lanid
                                   ^~~~~
#=== open_type
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
open_type.py:7:10: error: the element type of `A` is open [BadArgument]
    def fill(A: ww.Tensor[32], B: ww.Tensor["n", 4, {"float16", "bfloat16"}]):
             ^~~~~~~~~~~~~~~~
  note: a call in Python takes it from the array; a kernel expression gives it with `.specialize(A="float32")`
open_type.py:7:28: error: the element type of `B` is open; it is one of float16, bfloat16 [BadArgument]
    def fill(A: ww.Tensor[32], B: ww.Tensor["n", 4, {"float16", "bfloat16"}]):
                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a call in Python takes it from the array; a kernel expression gives it with `.specialize(B="float16")`
#=== tensor
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
tensor.py:7:13: error: a tensor without a shape: expected `ww.Tensor["n", "float32"]` [BadBuffer]
    def fill(A: ww.Tensor["int32"]):
                ^~~~~~~~~~~~~~~~~~
#=== type_choice
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
type_choice.py:8:10: error: `A` was given elements of float16: expected float32, int32 [BadArgument]
    def fill(A: ww.Tensor[32, {"float32", "int32"}], B: ww.Tensor[32, "int32"]):
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
type_choice.py:8:50: error: the element type of `B` is not open: nothing can be given for it [BadArgument]
    def fill(A: ww.Tensor[32, {"float32", "int32"}], B: ww.Tensor[32, "int32"]):
                                                     ^~~~~~~~~~~~~~~~~~~~~~~~~
#=== type_name
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
type_name.py:7:13: error: an element type `flaot32`; did you mean `float32`? [BadBuffer]
    def fill(A: ww.Tensor[32, "flaot32"]):
                ^~~~~~~~~~~~~~~~~~~~~~~~
