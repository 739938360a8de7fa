# A number that differs between the warps of a CTA, in primitives of the whole CTA: every thread
# uses its own. A warp per row, each row less its own sum, times what depends on the lane.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, warpid

WARPS, COLUMNS = 4, 64
ROWS = TileLayout(S[(WARPS, 32, 2) : (1 @ warpid, 1 @ laneid, 1)])


@T.prim_func
def rows_less_their_sum(X_ptr: T.handle, Y_ptr: T.handle, Z_ptr: T.handle):
    X = T.match_buffer(X_ptr, (WARPS, COLUMNS), "float32")
    Y = T.match_buffer(Y_ptr, (WARPS, COLUMNS), "float32")
    Z = T.match_buffer(Z_ptr, (WARPS, COLUMNS), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([WARPS])
    lane = T.lane_id([32])
    x = T.alloc_buffer((WARPS, COLUMNS), "float32", scope="local", layout=ROWS)
    y = T.alloc_buffer((WARPS, COLUMNS), "float32", scope="local", layout=ROWS)
    Tx.cta.copy(x[:, :], X[:, :])
    own = x.local(2)
    total: T.let = T.cuda.warp_reduce(own[0] + own[1], "sum")
    Tx.cta.sub(y, x, total)
    Tx.cta.copy(Y[:, :], y[:, :])
    Tx.cta.fma(y, y, T.cast(lane, "float32"), total)
    Tx.cta.select(y, y, x, T.cast(total, "int32") % 2)
    Tx.cta.copy(Z[:, :], y[:, :])
