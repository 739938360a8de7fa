#: kernel = scale.specialize(n=32, m=2)
from tvm.script import tirx as T


@T.jit
def scale(B_ptr: T.handle, n: T.constexpr):
    B = T.match_buffer(B_ptr, (n,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([n])
    B[tid] = 1.0
#--- expected
--kernel:1:26: error: `scale` has no constant `m` [BadArgument]
    scale.specialize(n=32, m=2)
                             ^
