# Stores of regions that stick out of their buffers, with `fill_mode`: from registers and from shared
# memory, past the end and before the start, in one dimension and in two.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx

ROWS, COLUMNS, TILE = 50, 70, 32


@T.prim_func
def ragged(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, D_ptr: T.handle):
    A = T.match_buffer(A_ptr, (ROWS, COLUMNS), "float32")
    B = T.match_buffer(B_ptr, (ROWS, COLUMNS), "float32")
    C = T.match_buffer(C_ptr, (ROWS, COLUMNS), "float32")
    D = T.match_buffer(D_ptr, (1000,), "float32")
    T.device_entry()
    bx, by = T.cta_id([3, 2])
    T.thread_id([128])
    own = TileLayout(S[(128, 2) : (1 @ tx, 1)])
    r = T.alloc_buffer((256,), "float32", scope="local", layout=own)
    s = T.alloc_shared((TILE, TILE), "float32")
    y: T.let = by * TILE
    x: T.let = bx * TILE
    Tx.cta.copy(s[:, :], A[y : y + TILE, x : x + TILE], fill_mode="zero")
    T.cuda.cta_sync()
    Tx.cta.copy(B[y : y + TILE, x : x + TILE], s[:, :], fill_mode="zero")
    # two before the first column, and one before the first row
    Tx.cta.copy(C[y - 1 : y + TILE - 1, x - 2 : x + TILE - 2], s[:, :], fill_mode="zero")
    block: T.let = by * 3 + bx
    Tx.cta.fill(r, T.cast(block, "float32"))
    Tx.cta.copy(D[block * 256 - 56 : block * 256 + 200], r[:], fill_mode="zero")
