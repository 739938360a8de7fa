# A kernel may have no parameters, and end with a comment.
@T.prim_func
def f():
    T.device_entry()
    tx = T.thread_id([32])
    T.cuda.printf("%d\n", tx)
    # done
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f():
    T.device_entry()
    tx = T.thread_id([32])
    T.cuda.printf("%d\n", tx)
