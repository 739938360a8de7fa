# SPDX-License-Identifier: Apache-2.0
"""Grids with a type, with starts, and as a list of variables."""
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((8, 16), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    for i, j in T.grid(8, 16, dtype="uint32"):
        A[i, j] = T.float32(1)
    for (*all_of_them,) in T.grid(8, (2, 12)):
        A[all_of_them[0], all_of_them[1]] = T.float32(2)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((8, 16))):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    for i in T.serial(8, dtype="uint32"):
        for j in T.serial(16, dtype="uint32"):
            A[i, j] = T.float32(1.0)
    for v in range(8):
        for v_1 in range(2, 12):
            A[v, v_1] = T.float32(2.0)
