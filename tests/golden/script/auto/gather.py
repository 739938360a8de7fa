from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


# A number of a row is where the row is, whatever comes before the table's axis.
@T.prim_func
def kernel(A: T.Buffer((4, 100, 32), "float32"), I: T.Buffer((48,), "int32"), B: T.Buffer((48, 32), "float32")):
    T.device_entry()
    bx = T.cta_id([4])
    T.thread_id([128])
    x = T.alloc_local((48, 32), "float32", layout="auto")
    rows = T.alloc_local((48,), "int32", layout="auto")
    Tx.cta.copy(rows, I)
    Tx.cta.gather(x, A[bx, :, :], rows, axis=-2)
    Tx.cta.copy(B, x)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, tx

@T.prim_func
def kernel(A: T.Buffer((4, 100, 32)), I: T.Buffer((48,), "int32"), B: T.Buffer((48, 32))):
    T.device_entry()
    bx = T.cta_id([4])
    T.thread_id([128])
    x = T.alloc_buffer((48, 32), scope="local", layout=TileLayout(S[(3, 16, 8, 4) : (4, 8 @ tx, 1 @ tx, 1)]))
    rows = T.alloc_buffer((48,), "int32", scope="local", layout=TileLayout(S[(3, 16) : (1, 8 @ tx)] + R[8 : 1 @ tx]))
    Tx.cta.copy(rows[0:48], I[0:48])
    Tx.cta.gather(x[0:48, 0:32], A[bx:bx + 1, 0:100, 0:32], rows[0:48], axis=-2)
    Tx.cta.copy(B[0:48, 0:32], x[0:48, 0:32])
