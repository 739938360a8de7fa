# SPDX-License-Identifier: Apache-2.0
"""As faults.py: programs that read what nothing wrote, and programs that never end."""

import torch
import triton
import triton.language as tl
from triton_programs.planted import normal, program


# --- values that nothing wrote --------------------------------------------------------------------


@triton.jit
def sum_without_other_kernel(x, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    value = tl.load(x + row * cols + at, mask=at < cols)  # also
    tl.store(out + row, tl.sum(value, 0))  # fault: uninit


@program
def sum_without_other():
    x, out = normal(2, 100), torch.zeros(2)
    sum_without_other_kernel[(2,)](x, out, 100, B=128)
    return out, x.sum(1)


@triton.jit
def max_without_other_kernel(x, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    value = tl.load(x + row * cols + at, mask=at < cols)  # also
    value = value - tl.max(value, 0)
    tl.store(out + row * cols + at, value, mask=at < cols)  # fault: uninit


@program
def max_without_other():
    x, out = normal(2, 100), torch.zeros(2, 100)
    max_without_other_kernel[(2,)](x, out, 100, B=128)
    return out, x - x.max(1, keepdim=True)[0]


@triton.jit
def dot_without_other_kernel(a, b, c, K, BM: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    acc = tl.zeros((BM, BM), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        left = tl.load(a + rm[:, None] * K + rk[None, :], mask=rk[None, :] < K)  # also
        right = tl.load(b + rk[:, None] * BM + rm[None, :], mask=rk[:, None] < K)  # also
        acc = tl.dot(left, right, acc)
    tl.store(c + rm[:, None] * BM + rm[None, :], acc)  # fault: uninit


@program
def dot_without_other():
    a, b, c = normal(16, 40, dtype=torch.float16), normal(40, 16, dtype=torch.float16), torch.zeros(16, 16)
    dot_without_other_kernel[(1,)](a, b, c, 40, BM=16, BK=32, num_stages=1)
    return c, a.float() @ b.float()


@triton.jit
def double_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at, mask=at < n)  # also
    tl.store(out + at, value * 2, mask=at < n)  # fault: uninit


@program
def empty_input():
    out = torch.zeros(200)
    double_kernel[(2,)](torch.empty(200), out, 200, B=128)
    return out, normal(200) * 2


@program
def half_written_between_kernels():
    x, middle, out = normal(200), torch.empty(200), torch.zeros(200)
    double_kernel[(1,)](x, middle, 200, B=128)
    double_kernel[(2,)](middle, out, 200, B=128)
    return out, x * 4


@triton.jit
def add_into_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + at % 10, tl.load(x + at, mask=at < n, other=0.0), mask=at < n)  # fault: uninit


@program
def sum_into_empty():
    x, out = normal(200), torch.empty(10)
    add_into_kernel[(2,)](x, out, 200, B=128)
    return out, x.reshape(20, 10).sum(0)


@triton.jit
def index_that_nothing_wrote_kernel(table, index, out, cols, B: tl.constexpr):
    row = tl.load(index + tl.program_id(0))  # also
    at = tl.arange(0, B)
    value = tl.load(table + row * cols + at, mask=at < cols)  # fault: uninit
    tl.store(out + tl.program_id(0) * cols + at, value, mask=at < cols)


@program
def index_that_nothing_wrote():
    table, out = normal(5, 20), torch.zeros(2, 20)
    index_that_nothing_wrote_kernel[(2,)](table, torch.empty(2, dtype=torch.int32), out, 20, B=32)
    return out, table[[3, 1]]


@triton.jit
def count_that_nothing_wrote_kernel(count, out, B: tl.constexpr):
    total = 0
    for _ in range(tl.load(count)):  # fault: uninit
        total += 1
    tl.store(out, total)


@program
def count_that_nothing_wrote():
    out = torch.zeros(1, dtype=torch.int32)
    count_that_nothing_wrote_kernel[(1,)](torch.empty(1, dtype=torch.int32), out, B=1)
    return out, torch.tensor([7])


# --- never ends -------------------------------------------------------------------------------------


@triton.jit
def flag_that_stays_kernel(flag, out):
    while tl.atomic_add(flag, 0) == 0:  # fault: hang
        pass
    tl.store(out, 1)


@program
def flag_that_stays():
    flag_that_stays_kernel[(1,)](torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32))


@triton.jit
def one_arrival_too_many_kernel(count, out, PROGRAMS: tl.constexpr):
    tl.atomic_add(count, 1)
    while tl.atomic_add(count, 0) < PROGRAMS + 1:  # fault: hang
        pass
    tl.store(out + tl.program_id(0), 1)


@program
def one_arrival_too_many():
    one_arrival_too_many_kernel[(3,)](torch.zeros(1, dtype=torch.int32), torch.zeros(3, dtype=torch.int32), PROGRAMS=3)


@triton.jit
def lock_kept_kernel(lock, total):
    while tl.atomic_cas(lock, 0, 1) == 1:  # fault: hang
        pass
    tl.store(total, tl.load(total) + 1)


@program
def lock_kept():
    lock_kept_kernel[(2,)](torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32))
