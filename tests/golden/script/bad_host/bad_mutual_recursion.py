#: kernel = build(32)
from tvm.script import tirx as T


ping = lambda x: pong(x)
pong = lambda x: ping(x)


def build(n):
    n = ping(n)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_mutual_recursion.py:6:18: error: compile-time evaluation is nested too deeply [Budget]
    pong = lambda x: ping(x)
                     ^~~~~~~
bad_mutual_recursion.py:5:18: note: in a call of `<lambda>`
    ping = lambda x: pong(x)
                     ^~~~~~~
bad_mutual_recursion.py:6:18: note: in a call of `<lambda>`
    pong = lambda x: ping(x)
                     ^~~~~~~
bad_mutual_recursion.py:5:18: note: in a call of `<lambda>`
    ping = lambda x: pong(x)
                     ^~~~~~~
