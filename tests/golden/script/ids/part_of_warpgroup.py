# SPDX-License-Identifier: Apache-2.0
"""The one warpgroup of a CTA may have fewer than four warps."""
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((64,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warpgroup_id([1])
    w = T.warp_id_in_wg([2])
    lane = T.lane_id([32])
    A[w * 32 + lane] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((64,))):
    T.device_entry()
    T.cta_id([1])
    T.warpgroup_id([1])
    w = T.warp_id_in_wg([2])
    lane = T.lane_id([32])
    A[w * 32 + lane] = T.float32(1.0)
