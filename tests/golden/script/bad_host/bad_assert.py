#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    m = 3
    assert n % m == 0, f"{n} is not a multiple of {m}"

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
bad_assert.py:7:5: error: assertion failed: 32 is not a multiple of 3 [HostError]
        assert n % m == 0, f"{n} is not a multiple of {m}"
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `n` is 32, `m` is 3
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
