#=== constants
#: kernel = f.specialize(N=8, K=3)
@T.jit
def f(a: T.handle, N: T.constexpr, M: T.constexpr):
    A = T.match_buffer(a, (N, M), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, tx] = 1.0
#--- expected
constants.py:3:36: error: the constant `M` has no value [BadArgument]
    def f(a: T.handle, N: T.constexpr, M: T.constexpr):
                                       ^~~~~~~~~~~~~~
  note: decorate the kernel with `@T.jit` or `@ww.kernel`, and give it in the kernel expression: `.specialize(M=…)`
--kernel:1:21: error: `f` has no constant `K` [BadArgument]
    f.specialize(N=8, K=3)
                        ^
#=== constexpr_of_prim_func
from tvm.script import ir as I
from tvm.script import tirx as T


@T.prim_func
def k(A: T.Buffer((32,), "int32"), n: I.constexpr):
    T.device_entry()
    tid = T.thread_id([32])
    A[tid] = n
#--- expected
constexpr_of_prim_func.py:6:36: error: the constant `n` has no value [BadArgument]
    def k(A: T.Buffer((32,), "int32"), n: I.constexpr):
                                       ^~~~~~~~~~~~~~
  note: decorate the kernel with `@T.jit` or `@ww.kernel`, and give it in the kernel expression: `.specialize(n=…)`
#=== unspecialized
@T.jit
def f(a: T.handle, N: T.constexpr):
    A = T.match_buffer(a, (N,), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[tx] = 1.0
#--- expected
unspecialized.py:2:20: error: the constant `N` has no value [BadArgument]
    def f(a: T.handle, N: T.constexpr):
                       ^~~~~~~~~~~~~~
  note: decorate the kernel with `@T.jit` or `@ww.kernel`, and give it in the kernel expression: `.specialize(N=…)`
