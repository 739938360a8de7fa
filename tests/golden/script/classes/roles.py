# SPDX-License-Identifier: Apache-2.0
from tvm.backend.cuda.lang import PipelineState
from tvm.script import tirx as T
from tvm.tirx.lang.warp_role import WarpgroupRole, WarpRole


@T.prim_func
def kernel(A: T.Buffer((512,), "float32")):
    T.device_entry()
    T.cta_id([1])
    group = T.warpgroup_id([4])
    warp = T.warp_id([16])
    t = T.thread_id([512])
    ring = PipelineState(3, 1)
    one = PipelineState(1, 0)
    with WarpgroupRole(group, (1, 3), regs=160, increase=True):
        A[t] = 1.0
        ring.advance()
    with WarpgroupRole(group, 3, regs=24):
        A[t] = 2.0
        one.advance()
    with WarpRole(warp, 2):
        A[t] = T.cast(ring.stage + one.phase, "float32")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((512,))):
    T.device_entry()
    T.cta_id([1])
    group = T.warpgroup_id([4])
    warp = T.warp_id([16])
    t = T.thread_id([512])
    ring_stage: T.int32
    ring_phase: T.int32
    ring_stage = 0
    ring_phase = 1
    one_stage: T.int32
    one_phase: T.int32
    one_stage = 0
    one_phase = 0
    if 1 <= group and group < 3:
        T.ptx["setmaxnreg.inc.sync.aligned.u32"](T.uint32(160))
        A[t] = T.float32(1.0)
        ring_stage = ring_stage + 1
        if ring_stage == 3:
            ring_stage = 0
            ring_phase = ring_phase ^ 1
    if group == 3:
        T.ptx["setmaxnreg.dec.sync.aligned.u32"](T.uint32(24))
        A[t] = T.float32(2.0)
        one_phase = one_phase ^ 1
    if warp == 2:
        A[t] = T.Cast("float32", ring_stage + one_phase)
