from tvm.script import tirx as T

TABLE = {"n": 32}
N = TABLE["m"]
M = N * 2

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (M,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
bad_module_key.py:4:5: error: no key 'm' in the dict [HostError]
    N = TABLE["m"]
        ^~~~~~~~~~
