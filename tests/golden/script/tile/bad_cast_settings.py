from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32, 2), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local([2], "float32")
    h = T.alloc_local([2], "float16")
    Tx.copy(r, A[t])
    Tx.cast(h, r, round="rs")
    Tx.cast(h, r, saturate="yes")
    Tx.cast(r, h, fast=True)
    Tx.copy(A[t], r)
#--- expected
bad_cast_settings.py:13:5: error: `round` of `cast` is `"rs"`, expected "rn", "rz", "rm", "rp" or "rna" [BadTileCall]
        Tx.cast(h, r, round="rs")
        ^~~~~~~~~~~~~~~~~~~~~~~~~
bad_cast_settings.py:14:5: error: `saturate` of `cast` is `"yes"`, expected `True` or `False` [BadTileCall]
        Tx.cast(h, r, saturate="yes")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_cast_settings.py:15:5: error: `cast` has no setting `fast` [UnknownName]
        Tx.cast(r, h, fast=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: round, saturate
