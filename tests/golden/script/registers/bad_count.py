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
bad_count.py:14:33: error: operand `count` is 20, allowed: 24..256 in steps of 8 [BadOperand]
            T.ptx.setmaxnreg(False, 20)
                                    ^~
bad_count.py:16:32: error: operand `count` is 252, allowed: 24..256 in steps of 8 [BadOperand]
            T.ptx.setmaxnreg(True, 252)
                                   ^~~
