# SPDX-License-Identifier: Apache-2.0
"""The examples against NumPy, on the virtual GPU."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import warpwright as ww
from warpwright.testing import assert_matches


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(x, scale, shift):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * scale + shift


def matmul(a, b):
    return a.astype(np.float32) @ b.astype(np.float32)


CASES = {
    "transpose.py": lambda a: a.T,
    "copy_through.py": lambda a: a,
    "tma_copy.py": lambda a: a,
    "column_sum.py": lambda a: a.sum(axis=0),
    "dsmem_reduce.py": lambda x: x.sum(axis=0),
    "row_sum.py": lambda a: (a.sum(axis=1), a.max(axis=1)),
    "cumsum.py": lambda a: np.cumsum(a, axis=1),
    "softmax.py": softmax,
    "layer_norm.py": layer_norm,
    "gemm_batched.py": matmul,
    "gemm_int8.py": lambda a, b: a.astype(np.int32) @ b.astype(np.int32).T,
    "gemm_bias_relu.py": lambda a, b, bias: np.maximum(matmul(a, b) + bias, 0),
    "rows/softmax.py": softmax,
    "rows/column_sum.py": lambda x: x.astype(np.float32).sum(axis=0),
}


@pytest.mark.parametrize("file", CASES)
def test_example_gives_what_numpy_gives(examples, file):
    kernel = ww.compile(examples / file)
    assert_matches(kernel, CASES[file], rtol=2e-2, atol=2e-2)


def test_expression_chooses_the_shape(examples):
    gemm = ww.compile(examples / "gemm_mma.py", "build(M=72, N=40, K=56)", target="sm_80")
    assert "sm_80" in gemm.target
    assert_matches(gemm, matmul, rtol=2e-2, atol=2e-2)


def test_bfloat16_and_fp8_come_through_ml_dtypes(examples):
    quantize = ww.compile(examples / "rows" / "quantize_fp8.py")
    x = np.random.default_rng(0).standard_normal((16, 1024)).astype(ml_dtypes.bfloat16)
    q = np.zeros((16, 1024), ml_dtypes.float8_e4m3fn)
    scale = np.zeros((16, 1), np.float32)
    quantize(x, q, scale, check=True)
    back = q.astype(np.float32) * scale
    assert np.abs(back - x.astype(np.float32)).max() < 0.2
    assert np.abs(back).max() > 1


def test_every_example_can_be_kept_and_read_back(examples):
    files = sorted([*examples.glob("*.py"), *examples.glob("rows/*.py")])
    assert len(files) > 30
    for file in files:
        kernel = ww.compile(file)
        ww.cache._kernels.clear()
        again = ww.compile(file)
        assert again._core.is_loaded, file
        assert again.params == kernel.params
        assert again.ptx == kernel.ptx
