#: kernel = k
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def helper(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    A[tid] = T.float32(1)

@T.prim_func
def k(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    helper(B.data)
#--- expected
bad_kernel_calls_kernel.py:19:5: error: kernel `k` calls kernel `helper` [BadType]
        helper(B.data)
        ^~~~~~~~~~~~~~
  note: decorate `helper` with `@T.inline`: its body becomes part of the kernel that calls it
