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
    if A[0] > 0:
        T.ptx.setmaxnreg(True, 240)
    A[t] = 0.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((512,))):
    T.device_entry()
    T.cta_id([1])
    group = T.warpgroup_id([3])
    warp = T.warp_id([12])
    lane = T.lane_id([32])
    t = T.thread_id([384])
    if A[0] > T.float32(0.0):
        T.ptx["setmaxnreg.inc.sync.aligned.u32"](T.uint32(240))
    A[t] = T.float32(0.0)
