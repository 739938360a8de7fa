from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


# The one warpgroup of a CTA is the CTA.
@T.prim_func
def kernel(A: T.Buffer((64, 16), "float16"), B: T.Buffer((16, 32), "float16"), D: T.Buffer((64, 32), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warpgroup_id([1])
    T.thread_id_in_wg([128])
    a = T.alloc_local((64, 16), "float16", layout="auto")
    b = T.alloc_local((16, 32), "float16", layout="auto")
    d = T.alloc_local((64, 32), "float32", layout="auto")
    Tx.wg.copy(a, A)
    Tx.wg.copy(b, B)
    Tx.wg.gemm(d, a, b, d)
    Tx.wg.copy(D, d)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, warpid, laneid

@T.prim_func
def kernel(A: T.Buffer((64, 16), "float16"), B: T.Buffer((16, 32), "float16"), D: T.Buffer((64, 32))):
    T.device_entry()
    T.cta_id([1])
    T.warpgroup_id([1])
    T.thread_id_in_wg([128])
    a = T.alloc_buffer((64, 16), "float16", scope="local", layout=TileLayout(S[(4, 2, 8, 2, 4, 2) : (1 @ warpid, 2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    b = T.alloc_buffer((16, 32), "float16", scope="local", layout=TileLayout(S[(2, 4, 2, 4, 8) : (2, 1 @ laneid, 1, 4, 4 @ laneid)] + R[4 : 1 @ warpid]))
    d = T.alloc_buffer((64, 32), scope="local", layout=TileLayout(S[(4, 2, 8, 4, 4, 2) : (1 @ warpid, 2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    Tx.wg.copy(a[0:64, 0:16], A[0:64, 0:16])
    Tx.wg.copy(b[0:16, 0:32], B[0:16, 0:32])
    Tx.wg.gemm(d[0:64, 0:32], a[0:64, 0:16], b[0:16, 0:32], d[0:64, 0:32])
    Tx.wg.copy(D[0:64, 0:32], d[0:64, 0:32])
