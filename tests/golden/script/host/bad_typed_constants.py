# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


def too_large():
    return T.int8(300)


mixed = T.float16(1.5) + T.bfloat16(2)


def no_float():
    return T.IntImm("float32", 1)


@T.prim_func
def kernel(A: T.Buffer((32,), "float16")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = too_large()
    A[t] = mixed
    A[t] = no_float()
#--- expected
bad_typed_constants.py:6:12: error: the constant 300 does not fit `int8` [BadType]
        return T.int8(300)
               ^~~~~~~~~~~
bad_typed_constants.py:21:12: note: in a call of `too_large`
        A[t] = too_large()
               ^~~~~~~~~~~
bad_typed_constants.py:13:21: error: `T.IntImm` of `float32`, expected an integer type [BadType]
        return T.IntImm("float32", 1)
                        ^~~~~~~~~
bad_typed_constants.py:23:12: note: in a call of `no_float`
        A[t] = no_float()
               ^~~~~~~~~~
bad_typed_constants.py:22:12: error: this value is not known at compile time: constants of types `float16` and `bfloat16` meet [Opaque]
        A[t] = mixed
               ^~~~~
bad_typed_constants.py:9:1: note: it comes from here
    mixed = T.float16(1.5) + T.bfloat16(2)
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
