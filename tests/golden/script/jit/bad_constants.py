#: kernel = f.specialize(N=8, K=3)
@T.jit
def f(a: T.handle, N: T.constexpr, M: T.constexpr):
    A = T.match_buffer(a, (N, M), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, tx] = 1.0
#--- expected
bad_constants.py:3:36: error: the constant `M` has no value [BadArgument]
    def f(a: T.handle, N: T.constexpr, M: T.constexpr):
                                       ^~~~~~~~~~~~~~
  note: decorate the kernel with `@T.jit` and give it with `.specialize(M=…)` in the kernel expression
--kernel:1:21: error: `f` has no constant `K` [BadArgument]
    f.specialize(N=8, K=3)
                        ^
