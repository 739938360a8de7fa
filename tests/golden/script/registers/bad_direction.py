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
bad_direction.py:14:9: error: `setmaxnreg.dec` to 200 registers in warp 0, which has 160: `dec` gives registers back, `inc` takes some [BadArgument]
            T.ptx.setmaxnreg(False, 200)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the kernel starts with 160 registers for each of its 384 threads
bad_direction.py:16:9: error: `setmaxnreg.inc` to 96 registers in warp 4, which has 160: `inc` takes registers, `dec` gives some back [BadArgument]
            T.ptx.setmaxnreg(True, 96)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the kernel starts with 160 registers for each of its 384 threads
