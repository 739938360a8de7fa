# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((512,), "float32")):
    T.func_attr({"tirx.max_registers_per_thread": 160})
    T.device_entry()
    T.cta_id([1])
    group = T.warpgroup_id([3])
    warp = T.warp_id([12])
    lane = T.lane_id([32])
    t = T.thread_id([384])
    with T.WarpgroupRole(group, 0, regs=40):
        A[t] = 1.0
    with T.WarpgroupRole(group, (1, 3), regs=240, increase=True):
        A[t] = 2.0
    A[t] = 0.0
#--- expected
bad_sum_fixed.py:16:5: error: the warps ask for 66560 registers, and the CTA has 61440 (384 threads of 160): this `inc` waits for ever [BadArgument]
        with T.WarpgroupRole(group, (1, 3), regs=240, increase=True):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_sum_fixed.py:14:5: note: warps 0-3 hold 40 registers for each thread, 5120 in all
        with T.WarpgroupRole(group, 0, regs=40):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_sum_fixed.py:16:5: note: warps 4-11 hold 240 registers for each thread, 61440 in all
        with T.WarpgroupRole(group, (1, 3), regs=240, increase=True):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
