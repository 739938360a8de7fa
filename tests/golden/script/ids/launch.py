# SPDX-License-Identifier: Apache-2.0
"""A launch stated at the entry, and ids that are read."""
from tvm.script import tirx as T


@T.function
def kernel(A: T.Tensor((8, 128), "int32"), n: T.int32):
    T.device_entry(
        launch=T.cuda.LaunchConfig(grid=(4, n), block=(64, 2), cluster=(2,), cooperative=True),
        options=T.cuda.KernelOptions(min_blocks_per_sm=2),
    )
    bx, by, bz = (T.cuda.block_idx("x"), T.cuda.block_idx("y"), T.cuda.block_idx("z"))
    tx = T.cuda.thread_idx("x")
    again = T.cuda.thread_idx("x")
    if T.cuda.warp_id() == 1:
        rank = T.cuda.cluster_cta_id("x")
        A[rank + bz, again] = T.cuda.lane_id() + T.cuda.block_dim("y") + by
    A[bx, tx] = T.cuda.linear_thread_id() + T.cuda.cluster_id("x") + T.cuda.cluster_id("y")
    A[bx, tx] = T.cuda.warpgroup_id() + T.cuda.warp_in_warpgroup() + T.cuda.thread_in_warpgroup()
    A[bx, tx] = T.cuda.cta_pair_id() + T.cuda.grid_dim("y") + T.cuda.cluster_dim("z")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((8, 128), "int32"), n: T.int32):
    T.func_attr({"tirx.cooperative": True, "tirx.launch_bounds_min_blocks_per_sm": 2})
    T.device_entry()
    bx, by = T.cta_id([4, n])
    tx, v = T.thread_id([64, 2])
    rank = T.cta_id_in_cluster([2])
    v_1 = T.warp_id()
    v_2 = T.lane_id()
    v_3, v_4 = T.cluster_id([2, n])
    v_5 = T.warpgroup_id()
    v_6 = T.warp_id_in_wg()
    v_7 = T.thread_id_in_wg()
    v_8 = T.cta_id_in_pair()
    if v_1 == 1:
        A[rank + 0, tx] = v_2 + 2 + by
    A[bx, tx] = v * 64 + tx + v_3 + v_4
    A[bx, tx] = v_5 + v_6 + v_7
    A[bx, tx] = v_8 + n + 1
