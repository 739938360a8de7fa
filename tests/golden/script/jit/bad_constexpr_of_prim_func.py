from tvm.script import ir as I
from tvm.script import tirx as T


@T.prim_func
def k(A: T.Buffer((32,), "int32"), n: I.constexpr):
    T.device_entry()
    tid = T.thread_id([32])
    A[tid] = n
#--- expected
bad_constexpr_of_prim_func.py:6:36: error: the constant `n` has no value [BadArgument]
    def k(A: T.Buffer((32,), "int32"), n: I.constexpr):
                                       ^~~~~~~~~~~~~~
  note: decorate the kernel with `@T.jit` and give it with `.specialize(n=…)` in the kernel expression
