# Reductions whose layouts say what is reduced: lanes keep their parts, all get the total, or only
# registers are left.
from tvm.tirx.layout import R, S, TileLayout, laneid

ACC = TileLayout(S[(2, 8, 16, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)])
RED = TileLayout(S[(2, 8, 4) : (1, 4 @ laneid, 1 @ laneid)])


@T.prim_func
def f():
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    acc = T.alloc_buffer((16, 128), "float32", scope="local", layout=ACC)
    red = T.alloc_buffer((16, 4), "float32", scope="local", layout=RED)
    Tx.warp.sum(red, acc, thread_reduce=False)
    Tx.warp.max(red, acc, accum=True)
    Tx.warp.sum(red, acc, thread_reduce=True)
    Tx.warp.min(red, red, thread_reduce=True)
    Tx.warp.prod(red, acc, thread_reduce=True, accum=True)
    four = T.alloc_buffer((4,), "float32", scope="local", layout=TileLayout(S[4:1] + R[32 : 1 @ laneid]))
    flat = T.alloc_buffer((128,), "float32", scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    Tx.warp.sum(four, flat)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def f():
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    acc = T.alloc_buffer((16, 128), scope="local", layout=TileLayout(S[(2, 8, 16, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    red = T.alloc_buffer((16, 4), scope="local", layout=TileLayout(S[(2, 8, 4) : (1, 4 @ laneid, 1 @ laneid)]))
    acc_parts = T.decl_buffer((16, 16, 4, 2), data=acc.data, scope="local", layout=TileLayout(S[(2, 8, 16, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    Tx.warp.sum(red[0:16, 0:4], acc_parts[0:16, 0:16, 0:4, 0:2], axes=(1, 3), thread_reduce=False)
    acc_parts_1 = T.decl_buffer((16, 16, 4, 2), data=acc.data, scope="local", layout=TileLayout(S[(2, 8, 16, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    Tx.warp.max(red[0:16, 0:4], acc_parts_1[0:16, 0:16, 0:4, 0:2], axes=(1, 3), accum=True)
    red_parts = T.decl_buffer((16,), data=red.data, scope="local", layout=TileLayout(S[(2, 8) : (1, 4 @ laneid)] + R[4 : 1 @ laneid]))
    Tx.warp.sum(red_parts[0:16], acc[0:16, 0:128], axes=1, thread_reduce=True)
    red_parts_1 = T.decl_buffer((16,), data=red.data, scope="local", layout=TileLayout(S[(2, 8) : (1, 4 @ laneid)] + R[4 : 1 @ laneid]))
    Tx.warp.min(red_parts_1[0:16], red[0:16, 0:4], axes=1, thread_reduce=True)
    red_total = T.alloc_buffer((16, 4), scope="local", layout=TileLayout(S[(2, 8, 4) : (1, 4 @ laneid, 1 @ laneid)]))
    red_total_parts = T.decl_buffer((16,), data=red_total.data, scope="local", layout=TileLayout(S[(2, 8) : (1, 4 @ laneid)] + R[4 : 1 @ laneid]))
    Tx.warp.prod(red_total_parts[0:16], acc[0:16, 0:128], axes=1, thread_reduce=True)
    Tx.warp.mul(red[0:16, 0:4], red[0:16, 0:4], red_total[0:16, 0:4])
    four = T.alloc_buffer((4,), scope="local", layout=TileLayout(S[4 : 1] + R[32 : 1 @ laneid]))
    flat = T.alloc_buffer((128,), scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    flat_parts = T.decl_buffer((32, 4), data=flat.data, scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    Tx.warp.sum(four[0:4], flat_parts[0:32, 0:4], axes=0)
