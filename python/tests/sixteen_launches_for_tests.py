# SPDX-License-Identifier: Apache-2.0
"""A program with sixteen different launches on arrays of 4 MB, four times over. Prints by how many MB this process has grown
between the ends of the first and the last time. With the argument `leak` it keeps an array of each launch."""

from __future__ import annotations

import gc
import sys

import numpy as np
import triton_kernels_for_tests as kernels

from warpwright import check
from warpwright.check import Array

try:
    import torch
except ImportError:
    torch = None

ELEMENTS = 1 << 20
kept = []


def given(dtype=np.float32):
    values = np.ones(ELEMENTS, dtype)
    return torch.from_numpy(values).cuda() if torch else Array(values)


def left():
    """Memory that nothing has written, which PyTorch's is: the checks keep a byte for each of its bytes."""
    if torch is None:
        return given()
    out = torch.empty(ELEMENTS, device="cuda")
    kept.extend([out] if "leak" in sys.argv else [])
    return out


def launches():
    zero = np.zeros(1, np.float32)
    for block in (32, 64, 128, 256):
        kernels.scale[(2,)](given(), left(), 2 * block, 1.5, BLOCK=block)
    for block in (128, 256):
        kernels.total[(2,)](given(), Array(zero), 2 * block, BLOCK=block)
        kernels.softmax[(2,)](given(), left(), block - 28, block, BLOCK=block)
        kernels.two_write_a_row[(2,)](given(), left(), BLOCK=block)  # and the finding keeps nothing
        kernels.copy_by_descriptor[(2,)](given(), left(), 64, 32, BM=block // 8, BN=32)
    for edge in (16, 32):
        kernels.gemm[(1, 1)](given(np.float16), given(np.float16), left(), edge, edge, edge, BM=edge, BN=edge, BK=edge)
    kernels.scale[(1,)](given(), left(), 1024, 0.5, BLOCK=512, num_ctas=2)
    kernels.tuned[(2,)](given(), left(), 200)


def resident():
    gc.collect()
    with open("/proc/self/statm") as sizes:
        return int(sizes.read().split()[1]) * 4096 / 1e6


with check.Session() as session:
    sizes = []
    for _ in range(4):
        launches()
        sizes.append(resident())
assert session.findings.launches == 64, session.findings.launches
print(round(sizes[-1] - sizes[0]))
