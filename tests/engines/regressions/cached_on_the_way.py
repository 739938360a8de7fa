# target sm_90a
# Hints of a load from global memory hold on the way to shared memory, too: one vector by a thread,
# and a tile by a CTA that does not divide it.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def cached(A: T.Buffer((33, 24), "float16"), B: T.Buffer((33, 24), "float16"), C: T.Buffer((64, 8), "uint8")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    s = T.alloc_shared((33, 24), "float16")
    v = T.alloc_shared((64, 8), "uint8")
    r = T.alloc_local((8,), "uint8")
    Tx.cta.copy(s[:, :], A[:, :], cache="nc", l1_evict="no_allocate", prefetch_size=128)
    Tx.copy(v[t, :], C[t, :], dispatch="vec_64b", cache="nc")
    T.cuda.cta_sync()
    Tx.cta.copy(B[:, :], s[:, :])
    Tx.copy(r[:], v[63 - t, :])
    Tx.copy(C[t, :], r[:])
