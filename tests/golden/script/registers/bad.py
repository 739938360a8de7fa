#=== count
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
    if group == 0:
        T.ptx.setmaxnreg(False, 20)
    else:
        T.ptx.setmaxnreg(True, 252)
    A[t] = 0.0
#--- expected
count.py:14:33: error: operand `count` is 20, allowed: 24..256 in steps of 8 [BadOperand]
            T.ptx.setmaxnreg(False, 20)
                                    ^~
count.py:16:32: error: operand `count` is 252, allowed: 24..256 in steps of 8 [BadOperand]
            T.ptx.setmaxnreg(True, 252)
                                   ^~~
#=== direction
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
    if group == 0:
        T.ptx.setmaxnreg(False, 200)
    elif group == 1:
        T.ptx.setmaxnreg(True, 96)
    else:
        T.ptx.setmaxnreg(True, 160)
    A[t] = 0.0
#--- expected
direction.py:14:9: error: `setmaxnreg.dec` to 200 registers in warp 0, which has 160: `dec` gives registers back, `inc` takes some [BadArgument]
            T.ptx.setmaxnreg(False, 200)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the kernel starts with 160 registers for each of its 384 threads
direction.py:16:9: error: `setmaxnreg.inc` to 96 registers in warp 4, which has 160: `inc` takes registers, `dec` gives some back [BadArgument]
            T.ptx.setmaxnreg(True, 96)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the kernel starts with 160 registers for each of its 384 threads
#=== lanes
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
lanes.py:14:9: error: `setmaxnreg` by 16 of the 32 threads of warp 0: all threads of a warpgroup must execute it [Divergent]
            T.ptx.setmaxnreg(False, 40)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== sum
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
    with T.WarpgroupRole(group, 0, regs=40):
        A[t] = 1.0
    with T.WarpgroupRole(group, (1, 3), regs=240, increase=True):
        A[t] = 2.0
    A[t] = 0.0
#--- expected
sum.py:15:5: error: the warps ask for 66560 registers, and the CTA has 64512 (384 threads of 168): this `inc` waits for ever [BadArgument]
        with T.WarpgroupRole(group, (1, 3), regs=240, increase=True):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
sum.py:13:5: note: warps 0-3 hold 40 registers for each thread, 5120 in all
        with T.WarpgroupRole(group, 0, regs=40):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
sum.py:15:5: note: warps 4-11 hold 240 registers for each thread, 61440 in all
        with T.WarpgroupRole(group, (1, 3), regs=240, increase=True):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== sum_fixed
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
sum_fixed.py:16:5: error: the warps ask for 66560 registers, and the CTA has 61440 (384 threads of 160): this `inc` waits for ever [BadArgument]
        with T.WarpgroupRole(group, (1, 3), regs=240, increase=True):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
sum_fixed.py:14:5: note: warps 0-3 hold 40 registers for each thread, 5120 in all
        with T.WarpgroupRole(group, 0, regs=40):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
sum_fixed.py:16:5: note: warps 4-11 hold 240 registers for each thread, 61440 in all
        with T.WarpgroupRole(group, (1, 3), regs=240, increase=True):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== warpgroup
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
warpgroup.py:13:5: error: `setmaxnreg` to 40 registers, and warp 0 of the same warpgroup (warps 0-3) keeps 168: all its warps must ask for the same [Divergent]
        with T.WarpRole(warp, 1, regs=40):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
