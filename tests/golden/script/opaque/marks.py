#: kernel = test_scale(64, "float32")::kernel
import itertools

import numpy as np
import pytest
import tvm.testing
from tvm.script import tirx as T

SIZES = [32, 64]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@tvm.testing.requires_cuda_compute_version(10)
@pytest.mark.skipif(tvm.cuda().exist is False, reason="no GPU")
@pytest.mark.parametrize("dtype", sorted(np.sctypes["float"]) + ["float32"])
@pytest.mark.parametrize("n", [pytest.param(n, id=f"n{n}") for n in SIZES])
def test_scale(n, dtype):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), dtype)
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    with pytest.raises(ValueError) as info:
        raise ValueError("as it should")
    assert info.value is not None
    assert np.allclose(kernel, 1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (64,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1.0)
