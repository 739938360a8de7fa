from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


# A tile of one thread is its own.
@T.prim_func
def kernel(X: T.Buffer((128, 8), "float32"), Y: T.Buffer((128, 8), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([128])
    x = T.alloc_local((8,), "float32", layout="auto")
    Tx.copy(x, X[t, :])
    Tx.copy(Y[t, :], x)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(X: T.Buffer((128, 8)), Y: T.Buffer((128, 8))):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([128])
    x = T.alloc_local((8,))
    Tx.copy(x[0:8], X[t:t + 1, 0:8])
    Tx.copy(Y[t:t + 1, 0:8], x[0:8])
