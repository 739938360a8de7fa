# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((8, 16), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    for i, j in T.grid(8, 16, dtype="float32"):
        A[i, j] = T.float32(1)
    for i, j in T.grid(8, 16, kind="serial"):
        A[i, j] = T.float32(1)
    for i, j in T.grid(8, (1, 2, 3)):
        A[i, j] = T.float32(1)
#--- expected
bad_grid.py:10:37: error: a loop variable of type `float32`, expected an integer [BadType]
        for i, j in T.grid(8, 16, dtype="float32"):
                                        ^~~~~~~~~
bad_grid.py:12:36: error: `T.grid` has no parameter `kind` [BadArgument]
        for i, j in T.grid(8, 16, kind="serial"):
                                       ^~~~~~~~
bad_grid.py:14:28: error: a range of 3 numbers, expected (start, stop) [BadArgument]
        for i, j in T.grid(8, (1, 2, 3)):
                               ^~~~~~~
