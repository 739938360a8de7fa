from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


# The accumulator says how the warps stand, and B is kept as (N, K).
@T.prim_func
def kernel(A: T.Buffer((128, 32), "float16"), B: T.Buffer((64, 32), "float16"), D: T.Buffer((128, 64), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([256])
    A_s = T.alloc_shared((128, 32), "float16", layout="auto")
    B_s = T.alloc_shared((64, 32), "float16", layout="auto")
    flags = T.alloc_shared((4,), "int32", layout="auto")
    a = T.alloc_local((128, 32), "float16", layout="auto")
    b = T.alloc_local((64, 32), "float16", layout="auto")
    d = T.alloc_local((128, 64), "float32", layout="auto")
    Tx.cta.copy(A_s, A)
    Tx.cta.copy(B_s, B)
    flags[0] = 1
    T.cuda.cta_sync()
    Tx.cta.copy(a, A_s)
    Tx.cta.copy(b, B_s)
    Tx.cta.gemm(d, a, b, d, transpose_B=True)
    Tx.cta.copy(D, d)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, warpid, laneid

@T.prim_func
def kernel(A: T.Buffer((128, 32), "float16"), B: T.Buffer((64, 32), "float16"), D: T.Buffer((128, 64))):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([256])
    A_s = T.alloc_buffer((128, 32), "float16", scope="shared", layout=ComposeLayout(3, 2, 3, TileLayout(S[4096 : 1])))
    B_s = T.alloc_buffer((64, 32), "float16", scope="shared", layout=ComposeLayout(3, 2, 3, TileLayout(S[2048 : 1])))
    flags = T.alloc_shared((4,), "int32")
    a = T.alloc_buffer((128, 32), "float16", scope="local", layout=TileLayout(S[(4, 2, 2, 8, 2, 2, 4, 2) : (1 @ warpid, 8, 2, 4 @ laneid, 16, 4, 1 @ laneid, 1)] + R[2 : 4 @ warpid]))
    b = T.alloc_buffer((64, 32), "float16", scope="local", layout=TileLayout(S[(2, 4, 8, 2, 2, 4, 2) : (4 @ warpid, 4, 4 @ laneid, 16, 2, 1 @ laneid, 1)] + R[4 : 1 @ warpid]))
    d = T.alloc_buffer((128, 64), scope="local", layout=TileLayout(S[(4, 2, 2, 8, 2, 4, 4, 2) : (1 @ warpid, 16, 2, 4 @ laneid, 4 @ warpid, 4, 1 @ laneid, 1)]))
    Tx.cta.copy(A_s[0:128, 0:32], A[0:128, 0:32])
    Tx.cta.copy(B_s[0:64, 0:32], B[0:64, 0:32])
    flags[0] = 1
    T.cuda.cta_sync()
    Tx.cta.copy(a[0:128, 0:32], A_s[0:128, 0:32])
    Tx.cta.copy(b[0:64, 0:32], B_s[0:64, 0:32])
    Tx.cta.gemm(d[0:128, 0:64], a[0:128, 0:32], b[0:64, 0:32], d[0:128, 0:64], transpose_B=True)
    Tx.cta.copy(D[0:128, 0:64], d[0:128, 0:64])
