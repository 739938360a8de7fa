# target sm_80
# Where the scan begins is known at run time; it writes what it reads all the same.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A: T.Buffer((2, 8, 32), "int32"), O: T.Buffer((2, 8, 32), "int32")):
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([2])
    T.thread_id([64])
    t = T.alloc_buffer((2, 8, 32), "int32", scope="shared")
    Tx.cta.copy(t, A)
    T.cuda.cta_sync()
    Tx.warp.cumsum(t[warp, :, :], t[warp, :, :], axis=1)
    T.cuda.cta_sync()
    Tx.cta.copy(O, t)
