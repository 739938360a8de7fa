# Rows to columns between lanes, but for the last column: each lane has three words of the four that
# change places, and a word passed through the place of the one that is not there.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def turned_but_for_a_column(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (96, 8), "uint64")
    B = T.match_buffer(B_ptr, (96, 8), "uint64")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    rows = T.alloc_buffer((96, 8), "uint64", scope="local", layout=TileLayout(S[(3, 32, 8) : (8, 1 @ laneid, 1)]))
    turned = T.alloc_buffer(
        (96, 8), "uint64", scope="local", layout=TileLayout(S[(12, 8, 4, 2) : (2, 1 @ laneid, 8 @ laneid, 1)])
    )
    Tx.warp.copy(rows, A)
    Tx.warp.zero(turned)
    Tx.warp.copy(turned[:, 0:7], rows[:, 0:7])
    Tx.warp.copy(B, turned)
