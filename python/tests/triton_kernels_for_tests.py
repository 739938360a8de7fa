# SPDX-License-Identifier: Apache-2.0
"""Triton's kernels as people write them, right and wrong, each with a function that launches it."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from warpwright.check import Array


@triton.jit
def double(x):
    return x * 2


@triton.jit
def scale(x_ptr, y_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(y_ptr + i, double(tl.load(x_ptr + i, mask=mask)) * factor, mask=mask)


@triton.jit
def unmasked(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i % 100, x)


@triton.jit
def two_write_a_row(x_ptr, y_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + row // 2 * BLOCK + i, tl.load(x_ptr + row * BLOCK + i))


@triton.jit
def total(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(y_ptr, tl.sum(x, axis=0))


@triton.jit
def used_without_other(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr, tl.sum(x, axis=0))


@triton.jit
def total_of_integers(x_ptr, y_ptr, n, BLOCK: tl.constexpr, OTHER: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=OTHER)
    tl.store(y_ptr, tl.sum(x, axis=0))


@triton.jit
def erf(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.erf(x), mask=i < n)


@triton.jit
def gemm(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + rows[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + columns[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc)


@triton.jit
def softmax(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def copy_by_descriptor(x_ptr, y_ptr, m, n, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [BM, BN])
    y = tl.make_tensor_descriptor(y_ptr, [m, n], [n, 1], [BM, BN])
    row = tl.program_id(0) * BM
    y.store([row, 0], x.load([row, 0]))


@triton.jit
def sum_of_products(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [BLOCK, K], [K, 1], [BLOCK, 64])
    b = tl.make_tensor_descriptor(b_ptr, [BLOCK, K], [K, 1], [BLOCK, 64])
    c = tl.make_tensor_descriptor(c_ptr, [BLOCK, BLOCK], [BLOCK, 1], [BLOCK, BLOCK])
    for k in tl.range(0, K, 64, warp_specialize=True):
        acc = tl.dot(a.load([0, k]), b.load([0, k]).T)
        c.store([0, 0], c.load([0, 0]) + acc.to(tl.float16))


@triton.jit
def copy_of_host_descriptor(x, y_ptr, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    i = (row + tl.arange(0, BM))[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(y_ptr + i, x.load([row, 0]))


@triton.jit
def stuck(lock_ptr):
    while tl.atomic_cas(lock_ptr, 0, 0) == 0:
        pass


@triton.jit
def slow(x_ptr, n):
    x = tl.load(x_ptr)
    while x != n:
        x = x * 5 + 1
    tl.store(x_ptr, x)


@triton.jit
def branch_on_a_scalar(x_ptr, y_ptr, n):
    x = tl.load(x_ptr, mask=n > 0)
    if x > 0:
        tl.store(y_ptr, 1.0)


@triton.jit
def branch_on_a_sum(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    if tl.sum(x, axis=0) > 0:
        tl.store(y_ptr, 1.0)


@triton.jit
def asserts(x_ptr):
    tl.device_assert(tl.load(x_ptr) > 0, "x is positive")


@triton.autotune([triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i < n) | (BLOCK == 256)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=inside) + 1, mask=inside)


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def run_scale() -> None:
    x, y = floats(1000), np.zeros(1000, np.float32)
    scale[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](
        Array(x), Array(y), 1000, 1.5, BLOCK=256
    )
    np.testing.assert_allclose(y, x * 3)


def run_unmasked() -> None:
    unmasked[(1,)](Array(floats(100)), Array(floats(100)), BLOCK=128)


def run_two_write_a_row() -> None:
    two_write_a_row[(4,)](Array(floats(4, 64)), Array(floats(4, 64)), BLOCK=64)


def run_total() -> None:
    x, y = floats(1000), np.zeros(1, np.float32)
    total[(4,)](Array(x), Array(y), 1000, BLOCK=256)
    np.testing.assert_allclose(y[0], x.sum(dtype=np.float64), rtol=1e-4)


def run_used_without_other() -> None:
    used_without_other[(1,)](Array(floats(100)), Array(floats(1)), 100, BLOCK=128)


def run_integers_with_other(other: int | None = 0) -> None:
    x, y = np.ones(100, np.int32), np.zeros(1, np.int32)
    total_of_integers[(1,)](Array(x), Array(y), 100, BLOCK=128, OTHER=other)
    assert y[0] == 100


def run_integers_without_other() -> None:
    run_integers_with_other(None)


def run_erf() -> None:
    erf[(1,)](Array(floats(100)), Array(np.zeros(100, np.float32)), 100, BLOCK=128)


def run_gemm() -> None:
    a, b = floats(64, 64).astype(np.float16), floats(64, 64).astype(np.float16)
    c = np.zeros((64, 64), np.float32)
    gemm[(2, 2)](Array(a), Array(b), Array(c), 64, 64, 64, BM=32, BN=32, BK=32)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-2)


def run_softmax() -> None:
    x, y = floats(4, 100), np.zeros((4, 100), np.float32)
    softmax[(4,)](Array(x), Array(y), 100, 100, BLOCK=128)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-4)


def run_copy_by_descriptor() -> None:
    x, y = floats(64, 32), np.zeros((64, 32), np.float32)
    copy_by_descriptor[(4,)](Array(x), Array(y), 64, 32, BM=16, BN=32)
    np.testing.assert_array_equal(x, y)


def run_sum_of_products() -> None:
    a, b = floats(128, 256).astype(np.float16), floats(128, 256).astype(np.float16)
    sum_of_products[(1,)](Array(a), Array(b), Array(np.zeros((128, 128), np.float16)), 256, BLOCK=128)


def run_tuned() -> None:
    x, y = floats(1000), np.zeros(1000, np.float32)
    tuned[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](Array(x), Array(y), 1000)
    np.testing.assert_allclose(y, x + 1)


def run_stuck() -> None:
    print("begins", flush=True)
    stuck[(1,)](Array(np.zeros(1, np.int32)))


def run_slow() -> None:
    slow[(1,)](Array(np.zeros(1, np.int32)), 2)


def run_branch_on_a_scalar() -> None:
    branch_on_a_scalar[(1,)](Array(floats(1)), Array(floats(1)), 0)


def run_branch_on_a_sum() -> None:
    branch_on_a_sum[(1,)](Array(floats(256)), Array(floats(1)), 100, BLOCK=256)


def run_asserts() -> None:
    asserts[(1,)](Array(np.zeros(1, np.float32)), debug=True)


def run_two_in_a_row() -> None:
    x, y, z = floats(512), np.zeros(512, np.float32), np.zeros(512, np.float32)
    scale[(2,)](Array(x), Array(y), 512, 0.5, BLOCK=256)
    scale[(2,)](Array(y), Array(z), 512, 0.5, BLOCK=256)
    np.testing.assert_array_equal(z, x)


@triton.jit
def of_addresses(pointers_ptr, y_ptr, BLOCK: tl.constexpr):
    x_ptr = tl.load(pointers_ptr + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + tl.program_id(0) * BLOCK + i, tl.load(x_ptr + i))


def run_addresses() -> None:
    import sys

    torch = sys.modules.get("torch")
    if torch is None:
        return run_scale()
    parts = [torch.rand(64, device="cuda") for _ in range(3)]
    pointers = torch.tensor([part.data_ptr() for part in parts], device="cuda")
    out = torch.empty(3, 64, device="cuda")
    of_addresses[(3,)](pointers, out, BLOCK=64)
    assert torch.equal(out, torch.stack(parts))


@triton.jit
def read_back(y_ptr, z_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, double(i) + 1)
    tl.store(z_ptr + i, tl.load(y_ptr + BLOCK - 1 - i))


def run_read_back() -> None:
    import torch

    y = torch.zeros(128, dtype=torch.int32, device="cuda")
    read_back[(1,)](y, torch.zeros_like(y), BLOCK=128)


@triton.jit
def dependent(x_ptr, y_ptr, BLOCK: tl.constexpr, WAITS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if WAITS:
        tl.extra.cuda.gdc_wait()
    x = tl.load(x_ptr + i)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(y_ptr + i, x + 1)


def run_dependent(waits: bool = True) -> None:
    x, y, z = (Array(np.zeros(128, np.float32)) for _ in range(3))
    dependent[(1,)](x, y, BLOCK=128, WAITS=True, launch_pdl=True)
    dependent[(1,)](y, z, BLOCK=128, WAITS=waits, launch_pdl=True)


def run_cluster() -> None:
    x, y = floats(1024), np.zeros(1024, np.float32)
    scale[(2,)](Array(x), Array(y), 1024, 0.5, BLOCK=512, num_ctas=2)
    np.testing.assert_array_equal(x, y)


@triton.jit
def product_loaded_ahead(a_ptr, b_ptr, c_ptr, K, SIZE: tl.constexpr, STEP: tl.constexpr, OTHER: tl.constexpr):
    i = tl.arange(0, SIZE)
    k = tl.arange(0, STEP)
    acc = tl.zeros((SIZE, SIZE), tl.float32)
    for begin in tl.range(0, K, STEP, num_stages=3):
        at = begin + k
        a = tl.load(a_ptr + i[:, None] * K + at[None, :], mask=at[None, :] < K, other=OTHER)
        b = tl.load(b_ptr + at[:, None] * SIZE + i[None, :], mask=at[:, None] < K, other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + i[:, None] * SIZE + i[None, :], acc)


def run_product_loaded_ahead(other: float | None) -> np.ndarray:
    a, b = floats(64, 112).astype(np.float16), floats(112, 64).astype(np.float16)
    c = np.zeros((64, 64), np.float32)
    product_loaded_ahead[(1,)](Array(a), Array(b), Array(c), 112, SIZE=64, STEP=32, OTHER=other)
    return np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max()
