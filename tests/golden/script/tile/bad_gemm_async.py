# Asynchronous products: shapes, types, and operands that are touched while a product is under way.
from tvm.tirx.layout import mma_shared_layout, wgmma_tile_layout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 64), "float16")
    T.device_entry()
    T.thread_id([128])
    X = T.alloc_buffer((64, 64), "float16", scope="shared", layout=mma_shared_layout("float16", "128B", (64, 64)))
    Y = T.alloc_buffer((32, 64), "float16", scope="shared", layout=mma_shared_layout("float16", "128B", (32, 64)))
    Z = T.alloc_buffer((32, 64), "int8", scope="shared")
    C = T.alloc_buffer((64, 32), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 32), "float32"))
    E = T.alloc_buffer((64, 32), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 32), "float32"))
    Tx.wg.gemm_async(C, X, Y, transB=True)
    Tx.wg.gemm_async(C, X, Z)
    Tx.wg.gemm_async(C, X[0], Y)
    Tx.wg.gemm_async(C, X, Y)
    T.ptx.wgmma.commit_group()
    Tx.wg.gemm_async(E, X, Y)
    T.ptx.wgmma.commit_group()
    T.ptx.wgmma.wait_group(1)
    Tx.wg.fill(C, 0.0)
    Tx.wg.fill(E, 0.0)
    Tx.cta.copy(X, A)
    T.ptx.wgmma.wait_group(0)
    Tx.wg.fill(E, 0.0)
    for i in range(2):
        C.local(16)[i] = T.float32(1)
        Tx.wg.gemm_async(C, X, Y)
#--- expected
bad_gemm_async.py:14:5: error: `gemm_async` of A (64, 64) of `X`, B (32, 64) of `Y` into C (64, 32) of `C`, expected A (M, K), B (K, N) and C (M, N) [BadTileCall]
        Tx.wg.gemm_async(C, X, Y, transB=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm_async.py:15:5: error: `gemm_async` with `float16` of `X` and `int8` of `Z`, expected one element type [BadTileCall]
        Tx.wg.gemm_async(C, X, Z)
        ^~~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm_async.py:16:5: error: `gemm_async` of (1, 64) of `X`, expected two extents other than 1 [BadTileCall]
        Tx.wg.gemm_async(C, X[0], Y)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm_async.py:23:5: error: `E` is written while the product into `E` is under way: `T.ptx.wgmma.wait_group(0)` comes first [BadTileCall]
        Tx.wg.fill(E, 0.0)
        ^~~~~~~~~~~~~~~~~~
bad_gemm_async.py:19:5: note: the product starts here
        Tx.wg.gemm_async(E, X, Y)
        ^~~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm_async.py:24:5: error: `X` is written while the product of `X` is under way: `T.ptx.wgmma.wait_group(0)` comes first [BadTileCall]
        Tx.cta.copy(X, A)
        ^~~~~~~~~~~~~~~~~
bad_gemm_async.py:19:5: note: the product starts here
        Tx.wg.gemm_async(E, X, Y)
        ^~~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm_async.py:28:9: error: `C` is written while the product into `C` is under way: no `T.ptx.wgmma.commit_group()` has closed its group [BadTileCall]
            C.local(16)[i] = T.float32(1)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm_async.py:29:9: note: the product starts here
            Tx.wg.gemm_async(C, X, Y)
            ^~~~~~~~~~~~~~~~~~~~~~~~~
