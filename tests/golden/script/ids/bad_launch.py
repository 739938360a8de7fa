# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.function
def kernel(A: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32, stream=None, priority=3))
    A[0] = T.cuda.block_idx("w")
    A[1] = T.cuda.block_idx(0)
    tx = T.cuda.thread_idx("x")
    tx = tx + 1
#--- expected
bad_launch.py:8:29: error: axis "w", expected "x", "y" or "z" [BadArgument]
        A[0] = T.cuda.block_idx("w")
                                ^~~
bad_launch.py:9:29: error: the axis is int, expected a text [BadType]
        A[1] = T.cuda.block_idx(0)
                                ^
bad_launch.py:11:5: error: `tx` is a scope id and cannot be assigned [ReadOnly]
        tx = tx + 1
        ^~
bad_launch.py:7:61: note: bound here
        T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32, stream=None, priority=3))
                                                                ^~
