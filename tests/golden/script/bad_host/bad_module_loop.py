#: steps = 100000
from tvm.script import tirx as T

n = 0
while n < 10**9:
    n += 1

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
bad_module_loop.py:5:7: error: compile-time evaluation takes too many steps [Budget]
    while n < 10**9:
          ^~~~~~~~~
bad_module_loop.py:5:1: note: in turn 10000 of this loop
    while n < 10**9:
    ^~~~~~~~~~~~~~~
