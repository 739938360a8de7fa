#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    f = lambda x: x
    for i in range(10**5):
        f = (lambda g: lambda x: g(x))(f)
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
bad_closure_bomb.py:8:34: error: compile-time evaluation is nested too deeply [Budget]
            f = (lambda g: lambda x: g(x))(f)
                                     ^~~~
bad_closure_bomb.py:8:34: note: in a call of `<lambda>`
            f = (lambda g: lambda x: g(x))(f)
                                     ^~~~
bad_closure_bomb.py:8:34: note: in a call of `<lambda>`
            f = (lambda g: lambda x: g(x))(f)
                                     ^~~~
bad_closure_bomb.py:8:34: note: in a call of `<lambda>`
            f = (lambda g: lambda x: g(x))(f)
                                     ^~~~
