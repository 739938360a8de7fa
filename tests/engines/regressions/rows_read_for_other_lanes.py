# target sm_80
# `ldmatrix` reads rows for all lanes of the warp; each lane then writes elements of its own.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A: T.Buffer((8, 128), "int32"), O: T.Buffer((8, 128), "int32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    t = T.alloc_buffer((8, 128), "int32", scope="shared")
    Tx.cta.copy(t[:, :], A[:, :])
    T.cuda.cta_sync()
    Tx.cta.cumsum(t, t, axis=0)
    T.cuda.cta_sync()
    Tx.cta.copy(O[:, :], t[:, :])
