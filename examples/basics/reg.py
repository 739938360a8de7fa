# A warp moves a 32x8 tile from shared memory to registers and back, one row per lane. In between it clears
# the shared tile.
#
#   warpwright run examples/basics/reg.py --device eval
from tvm.tirx.layout import S, TileLayout, laneid

shape, dtype = (32, 8), "float32"
r_layout = TileLayout(S[shape : (1 @ laneid, 1)])    # lane i -> row i, 8 regs
s_layout = TileLayout(S[shape])
fs = (slice(0, 32), slice(0, 8))

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, shape, dtype)
    T.device_entry(); T.cta_id([1]); T.lane_id([32]); tid = T.thread_id([32])
    A_smem = T.alloc_buffer(shape, dtype, scope="shared", layout=s_layout)
    for kk in range(8): A_smem[tid, kk] = T.cast(tid * 100 + kk + 1, dtype)
    T.cuda.cta_sync()
    R = T.alloc_buffer(shape, dtype, scope="local", layout=r_layout)
    Tx.warp.copy(R[fs], A_smem[fs])         # shared -> register (this dispatch)
    T.cuda.cta_sync()
    for kk in range(8): A_smem[tid, kk] = T.cast(0, dtype)
    T.cuda.cta_sync()
    Tx.warp.copy(A_smem[fs], R[fs])         # register -> shared (this dispatch)
    T.cuda.cta_sync()
    for kk in range(8): B[tid, kk] = A_smem[tid, kk]
