# Half a warp reaches a copy that needs the whole warp: docs/guide/language_tour.md.
#
#   warpwright run examples/errors/divergent.py
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, 8), "float16")
    T.device_entry()
    tid = T.thread_id([128])
    R = T.alloc_buffer((32, 8), "float16", scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    warp = tid // 32
    if warp == 1 and tid % 32 < 16:
        Tx.warp.copy(R[:, :], A[:, :])
