# A condition of host values picks its arm; names stay, the other arm is not looked at.
MODE = "fast"
LAYERS = 2

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    if MODE == "fast":
        x = 1
    elif MODE == "slow":
        x = undefined_name
    else:
        x = 2
    A[tx, 0] = x
    if LAYERS > 2 and MODE != "fast" and undefined_name:
        A[tx, 1] = 0.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int32 = 1
    A[tx, 0] = T.Cast("float32", x)
