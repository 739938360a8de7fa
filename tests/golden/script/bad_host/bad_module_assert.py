from tvm.script import tirx as T

M = 100
assert M % 64 == 0, f"M is {M}, expected a multiple of 64"
N = M + 1

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
bad_module_assert.py:4:1: error: assertion failed: M is 100, expected a multiple of 64 [HostError]
    assert M % 64 == 0, f"M is {M}, expected a multiple of 64"
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `M` is 100
