from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer((16, 1024), "float32"), Y: T.Buffer((16, 1024), "float32")):
    T.device_entry()
    bx = T.cta_id([16])
    T.thread_id([128])
    x = T.alloc_local((1024,), "float32", layout="auto")
    of_row = T.alloc_local((1,), "float32", layout="auto")
    Tx.cta.copy(x, X[bx, :])
    Tx.cta.sum(of_row, x)
    Tx.cta.mul(x, x, of_row)
    Tx.cta.copy(Y[bx, :], x)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, tx

@T.prim_func
def kernel(X: T.Buffer((16, 1024)), Y: T.Buffer((16, 1024))):
    T.device_entry()
    bx = T.cta_id([16])
    T.thread_id([128])
    x = T.alloc_buffer((1024,), scope="local", layout=TileLayout(S[(2, 128, 4) : (4, 1 @ tx, 1)]))
    of_row = T.alloc_buffer((1,), scope="local", layout=TileLayout(S[()] + R[128 : 1 @ tx]))
    Tx.cta.copy(x[0:1024], X[bx:bx + 1, 0:1024])
    Tx.cta.sum(of_row[0:1], x[0:1024])
    Tx.cta.mul(x[0:1024], x[0:1024], of_row[0:1])
    Tx.cta.copy(Y[bx:bx + 1, 0:1024], x[0:1024])
