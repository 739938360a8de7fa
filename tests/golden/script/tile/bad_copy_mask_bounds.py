from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((30, 16), "float16"), M: T.Buffer((30, 1), "bool")):
    T.device_entry()
    bx = T.cta_id([2])
    T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float16")
    y: T.let = bx * 16
    Tx.cta.copy(S0, A[y : y + 16, 0:16], predicate=M[y : y + 16, 0:1], fill_value=0)
#--- expected
bad_copy_mask_bounds.py:11:52: error: a region takes 16 from 16 in dimension 0 of `M`, which has extent 30, where bx = 1 [OutOfBounds]
        Tx.cta.copy(S0, A[y : y + 16, 0:16], predicate=M[y : y + 16, 0:1], fill_value=0)
                                                       ^~~~~~~~~~~~~~~~~~
bad_copy_mask_bounds.py:5:41: note: declared here
    def f(A: T.Buffer((30, 16), "float16"), M: T.Buffer((30, 1), "bool")):
                                            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
