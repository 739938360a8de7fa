# All threads hold the result, and so read what was in `s`; one writes it.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A: T.Buffer((1, 1), "float64"), C: T.Buffer((1,), "float64"), O: T.Buffer((1,), "float64")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    t = T.alloc_local((1, 1), "float64", layout="auto")
    Tx.cta.copy(t[:, :], A[:, :])
    s = T.alloc_buffer((1,), "float64", scope="shared")
    Tx.cta.copy(s[:], C[:])
    T.cuda.cta_sync()
    Tx.cta.max(s, t, axes=(0, 1), accum=True)
    T.cuda.cta_sync()
    Tx.cta.copy(O[:], s[:])
