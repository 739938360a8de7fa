#: kernel = scale
from tvm.script import tirx as T


@T.jit
def scale(B_ptr: T.handle, n: T.constexpr):
    B = T.match_buffer(B_ptr, (n,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([n])
    B[tid] = 1.0
#--- expected
bad_jit_constants.py:6:28: error: the constant `n` has no value [BadArgument]
    def scale(B_ptr: T.handle, n: T.constexpr):
                               ^~~~~~~~~~~~~~
  note: decorate the kernel with `@T.jit` and give it with `.specialize(n=…)` in the kernel expression
