#: kernel = build(32)
from tvm.script import tirx as T


class Loop:
    @property
    def size(self):
        return self.size


def build(n):
    n = Loop().size

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_method_recursion.py:8:16: error: compile-time evaluation is nested too deeply [Budget]
            return self.size
                   ^~~~~~~~~
bad_method_recursion.py:8:16: note: in a call of `size`
            return self.size
                   ^~~~~~~~~
bad_method_recursion.py:8:16: note: in a call of `size`
            return self.size
                   ^~~~~~~~~
bad_method_recursion.py:8:16: note: in a call of `size`
            return self.size
                   ^~~~~~~~~
