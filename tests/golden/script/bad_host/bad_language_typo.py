#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = T.alloc_bufer

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_language_typo.py:6:11: error: `T` has no `alloc_bufer`; did you mean `alloc_buffer`? [UnknownName]
        n = T.alloc_bufer
              ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
