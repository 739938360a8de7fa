# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((512,), "float32")):
    T.func_attr({"tirx.max_registers_per_thread": 128})
    T.device_entry()
    T.cta_id([1])
    group = T.warpgroup_id([3])
    warp = T.warp_id([12])
    lane = T.lane_id([32])
    t = T.thread_id([384])
    if group == 0:
        T.ptx.setmaxnreg(False, 40)
        A[t] = 1.0
        T.ptx.setmaxnreg(True, 128)
    for i in range(3):
        if A[i] > 0:
            A[t] = 2.0
    A[t] = 0.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((512,))):
    T.func_attr({"tirx.max_registers_per_thread": 128})
    T.device_entry()
    T.cta_id([1])
    group = T.warpgroup_id([3])
    warp = T.warp_id([12])
    lane = T.lane_id([32])
    t = T.thread_id([384])
    if group == 0:
        T.ptx["setmaxnreg.dec.sync.aligned.u32"](T.uint32(40))
        A[t] = T.float32(1.0)
        T.ptx["setmaxnreg.inc.sync.aligned.u32"](T.uint32(128))
    for i in range(3):
        if A[i] > T.float32(0.0):
            A[t] = T.float32(2.0)
    A[t] = T.float32(0.0)
