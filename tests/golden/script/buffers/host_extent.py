#: kernel = build()
# SPDX-License-Identifier: Apache-2.0
"""Extents that the host declares belong to each kernel that uses them."""
from tvm.script import tirx as T


def build():
    n = T.int32()
    m = T.int64()

    @T.function
    def first(A: T.Tensor((n,), "float32")):
        T.device_entry(launch=T.cuda.LaunchConfig(grid=(n + 31) // 32, block=32))
        A[T.cuda.block_idx("x")] = T.float32(0)

    @T.function
    def second(A: T.Tensor((n, m), "float32"), B: T.Tensor((n * 2,), "float32")):
        T.device_entry(launch=T.cuda.LaunchConfig(grid=n, block=32))
        for j in range(m):
            B[T.cuda.block_idx("x")] = A[T.cuda.block_idx("x"), j]

    return second
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

n = T.int32()
m = T.int64()
@T.prim_func
def second(A: T.Buffer((n, m)), B: T.Buffer((n * 2,))):
    T.device_entry()
    v = T.cta_id([n])
    T.thread_id([32])
    for j in T.serial(m, dtype="int64"):
        B[v] = A[v, j]
