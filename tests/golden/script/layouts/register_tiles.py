# SPDX-License-Identifier: Apache-2.0
"""Register tiles and shared tiles by name, against the same written out."""
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, laneid, tx, warpid
from tvm.tirx.layout import coalesced_layout, column_layout, mma_shared_layout, mma_tile_layout
from tvm.tirx.layout import reduced_layout, row_layout

D = mma_tile_layout("D", (64, 64), "float32", warps=(2, 2))
assert D.canonicalize() == TileLayout(
    S[(2, 2, 2, 8, 2, 4, 4, 2) : (1 @ warpid, 16, 2, 4 @ laneid, 2 @ warpid, 4, 1 @ laneid, 1)]
).canonicalize()
A = mma_tile_layout("A", (64, 16), "float16", warps=(2, 2))
assert A.size() == 1024 and A.replica[0].extent == 2
B = mma_tile_layout("B", (64, 16), "float16", warps=(2, 2), transposed=True)
assert B.size() == 1024

rows = row_layout((64, 64), 256)
assert rows == TileLayout(S[(64, 4, 16) : (4 @ tx, 1 @ tx, 1)])
assert reduced_layout(rows, (64, 64), 1) == TileLayout(S[64 : 4 @ tx] + R[4 : 1 @ tx])
assert reduced_layout(rows, (64, 64), -1) == reduced_layout(rows, (64, 64), [1])
assert column_layout((8, 64), 64) == TileLayout(S[(8, 64) : (1, 1 @ tx)])
assert coalesced_layout((1024,), 128, "float32") == TileLayout(S[(2, 128, 4) : (4, 1 @ tx, 1)])
assert coalesced_layout((32, 32), 32, "int8", axis=laneid).size() == 1024

# The widest swizzle that the rows have.
assert mma_shared_layout("float16", "auto", (64, 64)) == mma_shared_layout("float16", "128B", (64, 64))
assert mma_shared_layout("float16", "auto", (64, 32)) == mma_shared_layout("float16", "64B", (64, 32))
assert mma_shared_layout("float32", "auto", (64, 8)) == mma_shared_layout("float32", "32B", (64, 8))
assert mma_shared_layout("float32", "auto", (60, 5)) == mma_shared_layout("float32", 0, (60, 5))


@T.prim_func
def kernel(X: T.Buffer((64, 64), "float32"), Y: T.Buffer((64,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([256])
    x = T.alloc_buffer((64, 64), "float32", scope="local", layout=rows)
    y = T.alloc_buffer((64,), "float32", scope="local", layout=reduced_layout(rows, (64, 64), 1))
    Tx.cta.copy(x, X)
    Tx.cta.sum(y, x)
    Tx.cta.copy(Y, y)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, tx

@T.prim_func
def kernel(X: T.Buffer((64, 64)), Y: T.Buffer((64,))):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([256])
    x = T.alloc_buffer((64, 64), scope="local", layout=TileLayout(S[(64, 4, 16) : (4 @ tx, 1 @ tx, 1)]))
    y = T.alloc_buffer((64,), scope="local", layout=TileLayout(S[64 : 4 @ tx] + R[4 : 1 @ tx]))
    Tx.cta.copy(x[0:64, 0:64], X[0:64, 0:64])
    Tx.cta.sum(y[0:64], x[0:64, 0:64])
    Tx.cta.copy(Y[0:64], y[0:64])
