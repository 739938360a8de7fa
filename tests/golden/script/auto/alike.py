# A scan keeps the layout, and so does what is done with the same parts of two tiles.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer((32, 64), "float32"), Y: T.Buffer((2, 32), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    x = T.alloc_local((32, 64), "float32", layout="auto")
    scanned = T.alloc_local((32, 64), "float32", layout="auto")
    halves = T.alloc_local((32, 64), "float32", layout="auto")
    of_row = T.alloc_local((32,), "float32", layout="auto")
    Tx.warp.copy(x, X)
    Tx.warp.cumsum(scanned, x, axis=1)
    Tx.warp.sum(of_row, scanned, -1)
    Tx.warp.copy(Y[0, :], of_row)
    Tx.warp.mul(halves[:, 0:32], x[:, 0:32], 2.0)
    Tx.warp.mul(halves[:, 32:64], x[:, 32:64], 3.0)
    Tx.warp.sum(of_row, halves, -1)
    Tx.warp.copy(Y[1, :], of_row)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def kernel(X: T.Buffer((32, 64)), Y: T.Buffer((2, 32))):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    x = T.alloc_buffer((32, 64), scope="local", layout=TileLayout(S[(16, 2, 16, 4) : (4, 16 @ laneid, 1 @ laneid, 1)]))
    scanned = T.alloc_buffer((32, 64), scope="local", layout=TileLayout(S[(16, 2, 16, 4) : (4, 16 @ laneid, 1 @ laneid, 1)]))
    halves = T.alloc_buffer((32, 64), scope="local", layout=TileLayout(S[(16, 2, 16, 4) : (4, 16 @ laneid, 1 @ laneid, 1)]))
    of_row = T.alloc_buffer((32,), scope="local", layout=TileLayout(S[(16, 2) : (1, 16 @ laneid)] + R[16 : 1 @ laneid]))
    Tx.warp.copy(x[0:32, 0:64], X[0:32, 0:64])
    Tx.warp.cumsum(scanned[0:32, 0:64], x[0:32, 0:64], axis=1)
    Tx.warp.sum(of_row[0:32], scanned[0:32, 0:64])
    Tx.warp.copy(Y[0:1, 0:32], of_row[0:32])
    Tx.warp.mul(halves[0:32, 0:32], x[0:32, 0:32], T.float32(2.0))
    Tx.warp.mul(halves[0:32, 32:64], x[0:32, 32:64], T.float32(3.0))
    Tx.warp.sum(of_row[0:32], halves[0:32, 0:64])
    Tx.warp.copy(Y[1:2, 0:32], of_row[0:32])
