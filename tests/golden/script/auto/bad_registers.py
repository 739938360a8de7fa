from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer((1024,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_local((1024,), "float32", layout="auto")
    mine = x.local(16)
    Tx.cta.copy(x, X)
    Tx.cta.copy(X, x)
#--- expected
bad_registers.py:11:12: error: `local` of 16 elements over `x`, of which a thread holds 8 [NotAdmitted]
        mine = x.local(16)
               ^~~~~~~~~~~
bad_registers.py:10:9: note: its layout was inferred: `coalesced_layout((1024,), 128, "float32")`
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
