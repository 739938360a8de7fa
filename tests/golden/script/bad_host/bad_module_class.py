from tvm.script import tirx as T


class Shape:
    def __init__(self, m):
        assert m % 64 == 0, m
        self.m = m


SHAPE = Shape(100)

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
bad_module_class.py:6:9: error: assertion failed: 100 [HostError]
            assert m % 64 == 0, m
            ^~~~~~~~~~~~~~~~~~~~~
  note: `m` is 100
bad_module_class.py:10:9: note: in a call of `__init__`
    SHAPE = Shape(100)
            ^~~~~~~~~~
