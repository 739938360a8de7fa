# SPDX-License-Identifier: Apache-2.0
"""The entry as a block; a launch that the host has made."""
from tvm.script import tirx as T

LAUNCH = T.cuda.LaunchConfig(grid=1, block=32)


@T.function
def kernel(A: T.Tensor((32,), "int32")):
    with T.device_entry(launch=LAUNCH):
        A[T.cuda.thread_rank()] = T.cuda.lane_id()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((32,), "int32")):
    T.device_entry()
    T.cta_id([1])
    v = T.thread_id([32])
    v_1 = T.lane_id()
    A[v] = v_1
