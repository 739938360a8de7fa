# Nodes of TVM's tree: the message says what to write.
from tvm.script import ir as I
from tvm.script import tirx as T


@T.prim_func
def k(A: T.Buffer((32,), "int32"), r: I.TensorRegion):
    T.device_entry()
    tid = T.thread_id([32])
    Tx.copy(I.TensorRegion(A, [T.Range(0, 4)]), A[4:8])
    A[tid] = I.Tuple((1, 2))
#--- expected
bad_tree_nodes.py:7:36: error: this value is not known at compile time: `tvm.script.ir.TensorRegion` is not taken: `A[i : i + n, :]` is a region [Opaque]
    def k(A: T.Buffer((32,), "int32"), r: I.TensorRegion):
                                       ^~~~~~~~~~~~~~~~~
bad_tree_nodes.py:7:39: note: it comes from here
    def k(A: T.Buffer((32,), "int32"), r: I.TensorRegion):
                                          ^~~~~~~~~~~~~~
bad_tree_nodes.py:10:34: error: `T.Range` is not taken: kernels are written in Python; no tree is built by hand [UnknownName]
        Tx.copy(I.TensorRegion(A, [T.Range(0, 4)]), A[4:8])
                                     ^~~~~
bad_tree_nodes.py:11:14: error: this value is not known at compile time: `tvm.script.ir.Tuple` is not taken: `(a, b)` is a tuple [Opaque]
        A[tid] = I.Tuple((1, 2))
                 ^~~~~~~~~~~~~~~
