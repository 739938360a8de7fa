#: kernel = build()
from tvm.script import tirx as T


def add(item, to=[]):
    to.append(item)
    return to


def build():
    a = b = [1]
    b += [2]
    c = a + [3]
    add(1)
    numbers = add(2)
    rows = [[0] * 2] * 3
    rows[0][1] = 5
    assert a == [1, 2] and len(c) == 3 and numbers == [1, 2] and rows[2] == [0, 5]
    assert a is b and a is not [1, 2]
    g = (x for x in a)
    assert sum(g) == 3 and sum(g) == 0

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (len(c) * 32,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(rows[1][1])
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (96,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(5.0)
