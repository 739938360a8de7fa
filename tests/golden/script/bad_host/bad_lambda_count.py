#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    f = lambda x, y: x
    n = f(1)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_lambda_count.py:7:9: error: `<lambda>` without `y` [BadArgument]
        n = f(1)
            ^~~~
bad_lambda_count.py:6:19: note: the parameter
        f = lambda x, y: x
                      ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
