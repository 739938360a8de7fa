# A warp loads 8x8 tiles of float16 into the fragment of a matrix instruction and stores them: it loads `num`
# of them from shared memory, and B is A.
# The program of ldstmatrix.py in the newer spelling.
#
#   warpwright run examples/basics/ldstmatrix_new.py --device eval --expect 'B == A'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid

num = 2; M, N = 8, num * 8
r_layout = TileLayout(S[(8, 4, num, 2) : (4 @ laneid, 1 @ laneid, 2, 1)])
s_layout = TileLayout(S[(8, 4, num, 2) : (num * 8, 2, 8, 1)])     # row-major
full = (slice(0, 8), slice(0, 4), slice(0, num), slice(0, 2))

@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (M, N), "float16")
    B = T.match_buffer(B_ptr, (M, N), "float16")
    T.device_entry(); T.cta_id([1]); T.lane_id([32]); tid = T.thread_id([32])
    A_smem = T.alloc_buffer((8, 4, num, 2), "float16", scope="shared", layout=s_layout)
    row = tid // 4
    cp = tid % 4
    for t in range(num):
        for w in range(2):
            A_smem[row, cp, t, w] = A[row, 8 * t + 2 * cp + w]
    T.cuda.cta_sync()
    R = T.alloc_buffer((8, 4, num, 2), "float16", scope="local", layout=r_layout)
    Tx.warp.copy(R[full], A_smem[full])     # shared -> register  (ldmatrix)
    r = R.local(num * 2)
    for t in range(num):
        for w in range(2):
            B[row, 8 * t + 2 * cp + w] = r[t * 2 + w]
