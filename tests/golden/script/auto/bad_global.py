from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X_ptr: T.handle):
    X = T.match_buffer(X_ptr, (16,), "float32", layout="auto")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
#--- expected
bad_global.py:7:56: error: `layout="auto"` for a buffer in "global", expected local, shared or shared.dyn [BadBuffer]
        X = T.match_buffer(X_ptr, (16,), "float32", layout="auto")
                                                           ^~~~~~
  note: write its layout, or leave it out for row-major order
