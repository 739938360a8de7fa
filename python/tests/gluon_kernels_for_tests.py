# SPDX-License-Identifier: Apache-2.0
"""Gluon: values go through shared memory by an asynchronous copy, which one kernel does not wait for."""

from __future__ import annotations

import numpy as np
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton_kernels_for_tests import floats

from warpwright.check import Array

start_copy = getattr(async_copy, "async_load", async_copy.async_copy_global_to_shared)  # since 3.9


@gluon.jit
def copy(x_ptr, y_ptr, N: gl.constexpr, WAITS: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    i = gl.arange(0, N, layout=layout)
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffer = gl.allocate_shared_memory(gl.float32, [N], shared)
    start_copy(buffer, x_ptr + i)
    async_copy.commit_group()
    if WAITS:
        async_copy.wait_group(0)
    value = buffer.load(layout)
    gl.store(y_ptr + i, value)


def run_waiting_copy() -> None:
    x, y = floats(512), np.zeros(512, np.float32)
    copy[(1,)](Array(x), Array(y), N=512, WAITS=True)
    np.testing.assert_array_equal(x, y)


def run_hasty_copy() -> None:
    copy[(1,)](Array(floats(512)), Array(floats(512)), N=512, WAITS=False)
