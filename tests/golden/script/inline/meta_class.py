# A class whose fields hold buffers.
@T.meta_class
class Pair:
    def __init__(self, buf, k):
        self.buf = buf
        self.k = k

    @T.inline
    def put(self, i):
        self.buf[i, self.k] = 2.0

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    p = Pair(A, 3)
    p.put(tx)
    A[0, p.k] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    A[tx, 3] = T.float32(2.0)
    A[0, 3] = T.float32(1.0)
