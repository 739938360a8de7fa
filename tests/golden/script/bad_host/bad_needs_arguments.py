from tvm.script import tirx as T


def build(n, m=2):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
error: the only builder of this file needs arguments; call it with `--kernel EXPR` [NotAKernel]
  note: builder `build(n, m=2)`, with `kernel` inside
