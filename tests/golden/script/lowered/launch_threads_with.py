# Ids may stand behind `with`, as older programs write them.
@T.prim_func
def f(A: T.Buffer((4, 32), "float32")):
    with T.launch_thread("blockIdx.x", 4) as bx:
        with T.launch_thread("threadIdx.x", 32) as tx:
            A[bx, tx] = 1.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((4, 32))):
    bx = T.launch_thread("blockIdx.x", 4)
    tx = T.launch_thread("threadIdx.x", 32)
    A[bx, tx] = T.float32(1.0)
