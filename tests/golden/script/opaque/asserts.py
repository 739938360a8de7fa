# What an opaque value decides is not known: such an assert may hold or not.
import math
import sys
import numpy as np
import pytest
import torch
from tvm.script import tirx as T

N = np.load("n.npy")
TABLE = {"n": 32, np.int8: 8}
SIZES = [16, np.load("size.npy")]

assert np
assert not np.random
assert N == 32
assert not N == 32
assert N == 32 and N > 64
assert N > 64 or N == 32
assert 1 < N < 2
assert [N] == [32]
assert [N] == [33]
assert (1, N) == (1, 2)
assert (1, N) != (1, 2)
assert {"a": N} == {"a": 2}
assert 64 in SIZES
assert 64 not in SIZES
assert SIZES.count(64) == 1
assert all([N > 64])
assert any([N > 64])
assert max(N, 3) == 3
assert sum(SIZES) == 1
assert sorted(SIZES)[0] == 99
assert len(np.arange(4)) == 99
assert isinstance(N, str)
assert str(N) == "a"
assert f"{N}" == "a"
assert int(N) == 1
assert bool(N)
assert N is None
assert TABLE[np.int16]
assert (N if N else 0) == 5
assert [x for x in np.arange(4)] == [1]
assert math.sqrt(N) == 2
assert np.testing.assert_allclose(np.zeros(3), 0)
assert torch.cuda.is_available(), "needs a GPU"
assert sys.version_info >= (99, 0)

if N == 64:
    raise ValueError("not for 64")
for size in np.arange(4):
    assert size == 99
while N > 3:
    raise ValueError("never ends")
try:
    import cupy
except ImportError:
    raise RuntimeError("needs cupy")
try:
    raise KeyError("n")
except KeyError:
    pass
with pytest.raises(ZeroDivisionError):
    1 // 0
try:
    assert 1 == 2
except AssertionError as error:
    print(error)


def check(n):
    assert n < 4
    raise ValueError(n)


class Shape:
    def check(self):
        raise NotImplementedError


if __name__ == "__main__":
    check(100)


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1.0)
