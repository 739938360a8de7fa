from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32, 2), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local([2], "float32")
    Tx.copy(r, A[t])
    Tx.exp(r, fast="yes")
    Tx.log1p(r, fast=True)
    Tx.copy(A[t], r)
#--- expected
bad_fast.py:12:5: error: `fast` of `exp` is `"yes"`, expected `True` or `False` [BadTileCall]
        Tx.exp(r, fast="yes")
        ^~~~~~~~~~~~~~~~~~~~~
bad_fast.py:13:5: error: `log1p` has no setting `fast` [UnknownName]
        Tx.log1p(r, fast=True)
        ^~~~~~~~~~~~~~~~~~~~~~
  note: `log1p` has no settings
