from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def k[M](A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64, 64), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    A[tid, 0] = 0
#--- expected
bad_type_parameters.py:5:6: error: found `[`, expected `(` and parameters [Syntax]
    def k[M](A_ptr: T.handle):
         ^
  note: type parameters are not taken; `n = T.int32()` in the body declares an extent of run time, `n: T.constexpr` a constant of `@T.jit`
