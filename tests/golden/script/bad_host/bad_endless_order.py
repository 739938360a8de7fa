# Two lists that hold themselves have no order that could be found.
from tvm.script import tirx as T

x = []
x.append(x)
y = []
y.append(y)
z = x < y


@T.prim_func
def k(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64 if z else 32,), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([64])
#--- expected
bad_endless_order.py:13:32: error: this value is not known at compile time: comparing list with list takes too long [Opaque]
        A = T.match_buffer(A_ptr, (64 if z else 32,), "float32")
                                   ^~~~~~~~~~~~~~~~
bad_endless_order.py:8:1: note: it comes from here
    z = x < y
    ^~~~~~~~~
