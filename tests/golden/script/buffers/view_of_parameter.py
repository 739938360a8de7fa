from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def k(X: T.Buffer((64, 4), "float32"), Y: T.Buffer((256,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([256])
    V = X.view(256)
    Y[t] = V[t]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def k(X: T.Buffer((64, 4)), Y: T.Buffer((256,))):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([256])
    V = T.decl_buffer((256,), data=X.data)
    Y[t] = V[t]
