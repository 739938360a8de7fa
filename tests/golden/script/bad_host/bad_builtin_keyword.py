#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = sorted([1], revers=True)[0]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_builtin_keyword.py:6:21: error: `sorted` has no parameter `revers`; did you mean `reverse`? [BadArgument]
        n = sorted([1], revers=True)[0]
                        ^~~~~~
  note: it takes (items, key?, reverse?)
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
