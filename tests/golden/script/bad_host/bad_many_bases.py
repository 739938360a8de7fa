# A class with two hundred above it; names are looked up in all of them.
from tvm.script import tirx as T


class C:
    width = 64


for i in range(200):

    class C(C):
        pass


@T.prim_func
def k(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (C.width,), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([64])
#--- expected
bad_many_bases.py:17:32: error: this value is not known at compile time: class `C` inherits from more than 100 classes [Opaque]
        A = T.match_buffer(A_ptr, (C.width,), "float32")
                                   ^~~~~~~~
bad_many_bases.py:9:1: note: it comes from here
    for i in range(200):
    ^~~~~~~~~~~~~~~~~~~
