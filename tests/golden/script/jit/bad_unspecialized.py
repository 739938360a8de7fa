@T.jit
def f(a: T.handle, N: T.constexpr):
    A = T.match_buffer(a, (N,), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[tx] = 1.0
#--- expected
bad_unspecialized.py:2:20: error: the constant `N` has no value [BadArgument]
    def f(a: T.handle, N: T.constexpr):
                       ^~~~~~~~~~~~~~
  note: decorate the kernel with `@T.jit` and give it with `.specialize(N=…)` in the kernel expression
