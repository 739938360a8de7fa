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
  note: its primitives: copy, copy_async, gemm, gemm_async, fill, zero, memset, cast, permute_layout, gather, scatter, scatter_add, sqrt, exp, exp2, log2, reciprocal, silu, log, log1p, expm1, rsqrt, sin, cos, tanh, sigmoid, erf, gelu, gelu_tanh, abs, neg, relu, floor, ceil, round, add, sub, mul, fdiv, maximum, minimum, fma, select, pow, clamp, where, equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_xor, logical_not, bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift, bitwise_not, sum, prod, max, min, any, all, argmax, argmin, cumsum, cumprod, cummax, cummin
bad_scope.py:7:13: error: `Tx.warp` has no `warp` [UnknownName]
        Tx.warp.warp.copy(A, A)
                ^~~~
  note: its primitives: copy, copy_async, gemm, gemm_async, fill, zero, memset, cast, permute_layout, gather, scatter, scatter_add, sqrt, exp, exp2, log2, reciprocal, silu, log, log1p, expm1, rsqrt, sin, cos, tanh, sigmoid, erf, gelu, gelu_tanh, abs, neg, relu, floor, ceil, round, add, sub, mul, fdiv, maximum, minimum, fma, select, pow, clamp, where, equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_xor, logical_not, bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift, bitwise_not, sum, prod, max, min, any, all, argmax, argmin, cumsum, cumprod, cummax, cummin
bad_scope.py:8:8: error: `Tx` has no `nothing` [UnknownName]
        Tx.nothing(A)
           ^~~~~~~
  note: its primitives: copy, copy_async, gemm, gemm_async, fill, zero, memset, cast, permute_layout, gather, scatter, scatter_add, sqrt, exp, exp2, log2, reciprocal, silu, log, log1p, expm1, rsqrt, sin, cos, tanh, sigmoid, erf, gelu, gelu_tanh, abs, neg, relu, floor, ceil, round, add, sub, mul, fdiv, maximum, minimum, fma, select, pow, clamp, where, equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_xor, logical_not, bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift, bitwise_not, sum, prod, max, min, any, all, argmax, argmin, cumsum, cumprod, cummax, cummin
bad_scope.py:9:8: error: `Tx.warp` cannot be called [BadType]
        Tx.warp(A, A)
           ^~~~
