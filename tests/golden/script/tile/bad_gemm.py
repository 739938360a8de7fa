from tvm.tirx.layout import S, TileLayout, laneid

FRAG = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.warp_id([1])
    T.lane_id([32])
    D = T.alloc_local((16, 8), "float32", layout=FRAG)
    X = T.alloc_local((16, 8), "float16", layout=FRAG)
    Tx.warp.gemm(D, X, X, D)
    Tx.warp.gemm(D, X, D, D, transpose_B=True)
    Tx.warp.gemm(D, X, X[0:4, :], D, transpose_A=True)
    Tx.warp.gemm(D, X[0], X, D)
#--- expected
bad_gemm.py:13:5: error: `gemm` of A (16, 8) of `X`, B (16, 8) of `X`, C (16, 8) of `D` into D (16, 8) of `D`, expected A (M, K), B (K, N), C and D (M, N) [BadTileCall]
        Tx.warp.gemm(D, X, X, D)
        ^~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm.py:14:5: error: `gemm` with `float16` of `X` and `float32` of `D`, expected one element type [BadTileCall]
        Tx.warp.gemm(D, X, D, D, transpose_B=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm.py:14:5: error: `gemm` of A (16, 8) of `X`, B (16, 8) of `D`, C (16, 8) of `D` into D (16, 8) of `D`, expected A (M, K), B (K, N), C and D (M, N) after transposing [BadTileCall]
        Tx.warp.gemm(D, X, D, D, transpose_B=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm.py:15:5: error: `gemm` of A (16, 8) of `X`, B (4, 8) of `X`, C (16, 8) of `D` into D (16, 8) of `D`, expected A (M, K), B (K, N), C and D (M, N) after transposing [BadTileCall]
        Tx.warp.gemm(D, X, X[0:4, :], D, transpose_A=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_gemm.py:16:5: error: `gemm` of (1, 8) of `X`, expected two extents other than 1 [BadTileCall]
        Tx.warp.gemm(D, X[0], X, D)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~
