from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((32, 16), "float16"), M: T.Buffer((32, 16), "bool")):
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float16")
    I0 = T.alloc_shared((16, 16), "int8")
    Tx.cta.copy(S0, A[0:16, 0:16], predicate=I0)
    Tx.cta.copy(S0, A[0:16, 0:16], predicate=M[0:16, 0:8])
    Tx.cta.copy(S0, A[0:16, 0:16], M[0:16, 0:16], predicate=tx > 3)
    Tx.cta.copy(S0, A[0:16, 0:16], predicate=M[0:16, tx : tx + 1])
#--- expected
bad_copy_mask.py:10:5: error: `predicate` of `copy` is a tile of `int8`, expected `bool` [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], predicate=I0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: comparisons such as `less` and `not_equal` make tiles of `bool`
bad_copy_mask.py:11:5: error: `predicate` of `copy` is (16, 8) of `M`, which does not stretch to (16, 16) of `S0` [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], predicate=M[0:16, 0:8])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_mask.py:12:5: error: `predicate` of `copy` is given twice, as a tile and as one condition [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], M[0:16, 0:16], predicate=tx > 3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_mask.py:12:5: error: `predicate` of `copy` is `tx > 3`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], M[0:16, 0:16], predicate=tx > 3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_mask.py:13:46: error: the start of dimension 1 of `M` is `tx`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], predicate=M[0:16, tx : tx + 1])
                                                 ^~~~~~~~~~~~~~~~~~~~
