from tvm.script import tirx as T

M = 100
for size in (64, 100):
    if size == M:
        raise ValueError(f"no tile of {size}")

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
bad_module_raise.py:6:9: error: `ValueError` is raised: no tile of 100 [HostError]
            raise ValueError(f"no tile of {size}")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
