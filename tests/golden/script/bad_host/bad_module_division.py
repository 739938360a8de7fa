from tvm.script import tirx as T


def tiles(m, n):
    return m // n


TILES = tiles(64, 0)

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
bad_module_division.py:5:12: error: division by zero [HostError]
        return m // n
               ^~~~~~
bad_module_division.py:8:9: note: in a call of `tiles`
    TILES = tiles(64, 0)
            ^~~~~~~~~~~~
