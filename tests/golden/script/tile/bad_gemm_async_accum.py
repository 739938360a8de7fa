# `accum` is a bool, or an expression that is one.
from tvm.tirx.layout import mma_shared_layout, wgmma_tile_layout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 64), "float16")
    T.device_entry()
    T.thread_id([128])
    X = T.alloc_buffer((64, 64), "float16", scope="shared", layout=mma_shared_layout("float16", "128B", (64, 64)))
    C = T.alloc_buffer((64, 64), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 64), "float32"))
    Tx.wg.gemm_async(C, X, X, accum=2.5)
    Tx.wg.gemm_async(C, X, X, accum=C)
    Tx.wg.gemm_async(C, X, X, accum=A[0, 0] > T.float16(0))
    for i in range(2):
        Tx.wg.gemm_async(C, X, X, accum=i)
#--- expected
bad_gemm_async_accum.py:11:37: error: `accum` is float, expected True or False [BadType]
        Tx.wg.gemm_async(C, X, X, accum=2.5)
                                        ^~~
bad_gemm_async_accum.py:12:37: error: `accum` is buffer, expected True or False [BadType]
        Tx.wg.gemm_async(C, X, X, accum=C)
                                        ^
