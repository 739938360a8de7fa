# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((512,), "float32")):
    T.device_entry()
    T.cta_id([1])
    group = T.warpgroup_id([3])
    warp = T.warp_id([12])
    lane = T.lane_id([32])
    t = T.thread_id([384])
    if lane < 16:
        T.ptx.setmaxnreg(False, 40)
    A[t] = 0.0
#--- expected
bad_lanes.py:14:9: error: `setmaxnreg` by 16 of the 32 threads of warp 0: all threads of a warpgroup must execute it [Divergent]
            T.ptx.setmaxnreg(False, 40)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~
