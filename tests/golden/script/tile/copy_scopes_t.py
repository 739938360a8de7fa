# Every scope behind T, and names computed at compile time.
from tvm.script.tirx import tile as Tx

op = "copy"

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    S0 = T.alloc_shared((16, 16), "float32")
    T.tile.copy(S0, A)
    T.thread.copy(S0, A)
    T.warp.copy(S0, A)
    T.wg.copy(S0, A)
    T.warpgroup.copy(S0, A)
    T.cta.copy(S0, A)
    T.cluster.copy(S0, A)
    getattr(Tx, "warp").copy(S0, A)
    getattr(T.tile, op)(S0, A)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    S0 = T.alloc_buffer((16, 16), scope="shared")
    Tx.copy(S0[0:16, 0:16], A[0:16, 0:16])
    Tx.copy(S0[0:16, 0:16], A[0:16, 0:16])
    Tx.warp.copy(S0[0:16, 0:16], A[0:16, 0:16])
    Tx.wg.copy(S0[0:16, 0:16], A[0:16, 0:16])
    Tx.wg.copy(S0[0:16, 0:16], A[0:16, 0:16])
    Tx.cta.copy(S0[0:16, 0:16], A[0:16, 0:16])
    Tx.cluster.copy(S0[0:16, 0:16], A[0:16, 0:16])
    Tx.warp.copy(S0[0:16, 0:16], A[0:16, 0:16])
    Tx.copy(S0[0:16, 0:16], A[0:16, 0:16])
