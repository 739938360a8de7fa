# A list that holds itself, as an argument in a kernel.
from tvm.script import tirx as T

x = []
x.append(x)


@T.prim_func
def k(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    T.evaluate(x)
#--- expected
bad_cycle_in_kernel.py:14:16: error: list as a value of the kernel, expected a number or an expression [BadType]
        T.evaluate(x)
                   ^
