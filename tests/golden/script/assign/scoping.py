# Names of an outer block are stored to; names first assigned inside end with the block.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = 1
    if tx < 4:
        x = 2
        y = 3
        A[0, y] = x
    for i in range(4):
        x = x + i
        y = 4
        A[1, y] = x
    y = 5
    A[2, y] = x
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = 1
    if tx < 4:
        x = 2
        y: T.int32 = 3
        A[0, y] = T.Cast("float32", x)
    for i in range(4):
        x = x + i
        y: T.int32 = 4
        A[1, y] = T.Cast("float32", x)
    y: T.int32 = 5
    A[2, y] = T.Cast("float32", x)
