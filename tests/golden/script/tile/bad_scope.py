@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.wrap.copy(A, A)
    Tx.warp.warp.copy(A, A)
    Tx.nothing(A)
    Tx.warp(A, A)
#--- expected
bad_scope.py:6:8: error: `Tx` has no `wrap` [UnknownName]
        Tx.wrap.copy(A, A)
           ^~~~
  note: its primitives: copy, copy_async, gemm, gemm_async, fill, zero, memset, cast, permute_layout, sqrt, exp, exp2, log2, reciprocal, silu, add, sub, mul, fdiv, maximum, minimum, fma, select, sum, max, min
bad_scope.py:7:13: error: `Tx.warp` has no `warp` [UnknownName]
        Tx.warp.warp.copy(A, A)
                ^~~~
  note: its primitives: copy, copy_async, gemm, gemm_async, fill, zero, memset, cast, permute_layout, sqrt, exp, exp2, log2, reciprocal, silu, add, sub, mul, fdiv, maximum, minimum, fma, select, sum, max, min
bad_scope.py:8:8: error: `Tx` has no `nothing` [UnknownName]
        Tx.nothing(A)
           ^~~~~~~
  note: its primitives: copy, copy_async, gemm, gemm_async, fill, zero, memset, cast, permute_layout, sqrt, exp, exp2, log2, reciprocal, silu, add, sub, mul, fdiv, maximum, minimum, fma, select, sum, max, min
bad_scope.py:9:8: error: `Tx.warp` cannot be called [BadType]
        Tx.warp(A, A)
           ^~~~
