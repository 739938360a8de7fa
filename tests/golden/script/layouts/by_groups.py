# Groups of iters in another order; a swizzle by its numbers, with its direction.
from tvm.script import tirx as T
from tvm.tirx.layout import ComposeLayout, S, TileLayout, laneid

FRAGMENT = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])


def turned(layout, shape):
    grouped, separators = layout.group(shape)
    return grouped.permute_by_groups(separators, [1, 0])


@T.prim_func
def f(A: T.Buffer((8, 64), "float16")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    R = T.alloc_buffer((8, 16), "float32", scope="local", layout=turned(FRAGMENT, [16, 8]))
    a = T.alloc_buffer((8, 64), "float16", scope="shared", layout=ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]), True))
    b = T.alloc_buffer((8, 64), "float16", scope="shared", layout=ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]), False))
    Tx.warp.copy(a, A)
    Tx.warp.copy(b, A)
    Tx.warp.fill(R, T.float32(0))
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def f(A: T.Buffer((8, 64), "float16")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    R_1 = T.alloc_buffer((8, 16), scope="local", layout=TileLayout(S[(4, 2, 2, 8) : (1 @ laneid, 1, 2, 4 @ laneid)]))
    a = T.alloc_buffer((8, 64), "float16", scope="shared", layout=ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)])))
    b = T.alloc_buffer((8, 64), "float16", scope="shared", layout=ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]), swizzle_inner=False))
    Tx.warp.copy(a[0:8, 0:64], A[0:8, 0:64])
    Tx.warp.copy(b[0:8, 0:64], A[0:8, 0:64])
    Tx.warp.fill(R_1[0:8, 0:16], T.float32(0.0))
