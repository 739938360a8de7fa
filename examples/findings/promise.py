# A promised uniform length that differs between the halves of the block:
# docs/reference/language.md.
#
#   warpwright run examples/findings/promise.py --arg lens=arange
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


@T.prim_func
def kernel(A: T.Buffer((4, 128), "float32"), B: T.Buffer((128,), "float32"), lens: T.Buffer((2,), "int32")):
    T.device_entry()
    t = T.thread_id([128])
    R = T.alloc_buffer((128,), "float32", scope="local", layout=TileLayout(S[128 : 1 @ tx]))
    Tx.cta.zero(R)
    n = T.uniform(lens[t // 64])
    for i in range(n):
        Tx.cta.copy(R, A[i, :])
    Tx.cta.copy(B, R)
