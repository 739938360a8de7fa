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
    with T.WarpRole(warp, 1, regs=40):
        A[t] = 1.0
    with T.WarpRole(warp, 2, regs=48):
        A[t] = 2.0
    A[t] = 0.0
#--- expected
bad_warpgroup.py:13:5: error: `setmaxnreg` to 40 registers, and warp 0 of the same warpgroup (warps 0-3) keeps 168: all its warps must ask for the same [Divergent]
        with T.WarpRole(warp, 1, regs=40):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
