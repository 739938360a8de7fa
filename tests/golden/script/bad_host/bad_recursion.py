#: kernel = build(32)
from tvm.script import tirx as T


def down(x):
    return down(x + 1)


def build(n):
    n = down(n)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_recursion.py:6:12: error: compile-time evaluation is nested too deeply [Budget]
        return down(x + 1)
               ^~~~~~~~~~~
bad_recursion.py:6:12: note: in a call of `down`
        return down(x + 1)
               ^~~~~~~~~~~
bad_recursion.py:6:12: note: in a call of `down`
        return down(x + 1)
               ^~~~~~~~~~~
bad_recursion.py:6:12: note: in a call of `down`
        return down(x + 1)
               ^~~~~~~~~~~
