from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32, 2), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local([2], "float32")
    Tx.copy(r, A[t])
    Tx.add(r, r, T.float32(1), rounding_mode="rm")
    Tx.maximum(r, r, r, rounding_mode="rn")
    Tx.copy(A[t], r)
#--- expected
bad_rounding.py:12:5: error: `rounding_mode` of `add` is `"rm"`, expected "rn" [BadTileCall]
        Tx.add(r, r, T.float32(1), rounding_mode="rm")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_rounding.py:13:5: error: `maximum` has no setting `rounding_mode` [UnknownName]
        Tx.maximum(r, r, r, rounding_mode="rn")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `maximum` has no settings
