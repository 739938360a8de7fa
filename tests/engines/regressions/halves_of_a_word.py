# target sm_75
# A tile of int32 that is stored in pairs of bytes, because its rows are cut off there, and read as
# words afterwards: taking a word apart and copying it are both `mov.b32`, and were taken for the same.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


@T.prim_func
def halves(A: T.Buffer((2, 192), "int32"), bytes: T.Buffer((2, 766), "uint8"), B: T.Buffer((2, 192), "int32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    a = T.alloc_buffer((2, 192), "int32", scope="local", layout=TileLayout(S[(2, 64, 3) : (64 @ tx, 1 @ tx, 1)]))
    Tx.cta.copy(a, A)
    Tx.cta.copy(bytes[:, 0:768], a.view("uint8")[:, 0:768], clip=True)
    Tx.cta.cummin(a, a, axis=1)
    Tx.cta.copy(B, a)
