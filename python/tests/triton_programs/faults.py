# SPDX-License-Identifier: Apache-2.0
"""Programs with one planted fault each. `# fault: KIND` marks the line of the kernel where a finding of that kind is
expected; where a race or a value has two lines, either may be named (`# also`). A program returns what its kernel left
and what a right one would leave; those that never end return nothing."""

import torch
import triton
import triton.language as tl
from triton_programs.planted import normal, program


# --- outside the arrays -------------------------------------------------------------------------


@triton.jit
def load_without_mask_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at)  # fault: bounds
    tl.store(out + at, value * 2, mask=at < n)


@program
def load_without_mask():
    x, out = normal(300), torch.zeros(300)
    load_without_mask_kernel[(3,)](x, out, 300, B=128)
    return out, x * 2


@triton.jit
def store_without_mask_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, value * 2)  # fault: bounds


@program
def store_without_mask():
    x, out = normal(300), torch.zeros(300)
    store_without_mask_kernel[(3,)](x, out, 300, B=128)
    return out, x * 2


@triton.jit
def mask_one_too_far_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, value, mask=at <= n)  # fault: bounds


@program
def mask_one_too_far():
    x, out = normal(300), torch.zeros(300)
    mask_one_too_far_kernel[(3,)](x, out, 300, B=128)
    return out, x


@triton.jit
def wrong_stride_kernel(x, out, rows, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    value = tl.load(x + row * B + at, mask=at < cols, other=0.0)  # fault: bounds
    tl.store(out + row * cols + at, value, mask=at < cols)


@program
def wrong_stride():
    x, out = normal(4, 100), torch.zeros(4, 100)
    wrong_stride_kernel[(4,)](x, out, 4, 100, B=128)
    return out, x


@triton.jit
def before_the_start_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    here = tl.load(x + at, mask=at < n, other=0.0)
    before = tl.load(x + at - 1, mask=at < n, other=0.0)  # fault: bounds
    tl.store(out + at, here - before, mask=at < n)


@program
def before_the_start():
    x, out = normal(200), torch.zeros(200)
    before_the_start_kernel[(2,)](x, out, 200, B=128)
    return out, torch.diff(x, prepend=torch.zeros(1))


@triton.jit
def one_dimension_masked_kernel(x, out, rows, cols, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    at = r[:, None] * cols + c[None, :]
    value = tl.load(x + at, mask=c[None, :] < cols, other=0.0)  # fault: bounds
    tl.store(out + at, value, mask=(r[:, None] < rows) & (c[None, :] < cols))


@program
def one_dimension_masked():
    x, out = normal(20, 30), torch.zeros(20, 30)
    one_dimension_masked_kernel[(2, 2)](x, out, 20, 30, B=16)
    return out, x


@triton.jit
def last_block_of_k_kernel(a, b, c, K, BM: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    acc = tl.zeros((BM, BM), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        left = tl.load(a + rm[:, None] * K + rk[None, :], mask=rk[None, :] < K, other=0.0)
        right = tl.load(b + rk[:, None] * BM + rm[None, :])  # fault: bounds
        acc = tl.dot(left, right, acc)
    tl.store(c + rm[:, None] * BM + rm[None, :], acc)


@program
def last_block_of_k():
    a, b, c = normal(16, 40, dtype=torch.float16), normal(40, 16, dtype=torch.float16), torch.zeros(16, 16)
    last_block_of_k_kernel[(1,)](a, b, c, 40, BM=16, BK=32)
    return c, a.float() @ b.float()


@triton.jit
def word_outside_the_table_kernel(table, index, out, cols, B: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    at = tl.arange(0, B)
    value = tl.load(table + row * cols + at, mask=at < cols)  # fault: bounds
    tl.store(out + tl.program_id(0) * cols + at, value, mask=at < cols)


@program
def word_outside_the_table():
    table, index, out = normal(5, 20), torch.tensor([0, 5, 2], dtype=torch.int32), torch.zeros(3, 20)
    word_outside_the_table_kernel[(3,)](table, index, out, 20, B=32)
    return out, table[[0, 4, 2]]


@triton.jit
def offset_of_32_bits_kernel(x, out, stride, B: tl.constexpr):
    row = tl.program_id(0) + 60000
    at = tl.arange(0, B)
    value = tl.load(x + (row * stride + at) // 40000)  # fault: bounds
    tl.store(out + at, value)


@program
def offset_of_32_bits():
    x, out = normal(70000), torch.zeros(32)
    offset_of_32_bits_kernel[(1,)](x, out, 40000, B=32)
    return out, x[60000].expand(32)


@triton.jit
def wider_pointer_kernel(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    wide = x.to(tl.pointer_type(tl.int64))
    value = tl.load(wide + at, mask=at < n, other=0)  # fault: bounds
    tl.store(out + at, value, mask=at < n)


@program
def wider_pointer():
    x, out = torch.arange(50, dtype=torch.int32), torch.zeros(50, dtype=torch.int64)
    wider_pointer_kernel[(1,)](x, out, 50, B=64)
    return out, x.long()


@triton.jit
def odd_start_kernel(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    bytes_of_x = x.to(tl.pointer_type(tl.int8)) + 1
    value = tl.load(bytes_of_x.to(tl.pointer_type(tl.int32)) + at, mask=at < B - 1, other=0)  # fault: align
    tl.store(out + at, value)


@program
def odd_start():
    x, out = torch.arange(32, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    odd_start_kernel[(1,)](x, out, B=32)
    return out, (x + 1) % 32 << 24


# --- races ----------------------------------------------------------------------------------------


@triton.jit
def two_programs_one_row_kernel(x, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    value = tl.load(x + row * cols + at, mask=at < cols, other=0.0)
    tl.store(out + row // 2 * cols + at, value, mask=at < cols)  # fault: race


@program
def two_programs_one_row():
    x, out = normal(4, 100), torch.zeros(4, 100)
    two_programs_one_row_kernel[(4,)](x, out, 100, B=128)
    return out, x


@triton.jit
def one_scalar_for_all_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0)
    tl.store(out, total)  # fault: race


@program
def one_scalar_for_all():
    x, out = normal(300), torch.zeros(1)
    one_scalar_for_all_kernel[(3,)](x, out, 300, B=128)
    return out, x.sum(0, keepdim=True)


@triton.jit
def sum_without_atomic_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0)
    tl.store(out, tl.load(out) + total)  # fault: race


@program
def sum_without_atomic():
    x, out = normal(300), torch.zeros(1)
    sum_without_atomic_kernel[(3,)](x, out, 300, B=128)
    return out, x.sum(0, keepdim=True)


@triton.jit
def overlapping_blocks_kernel(x, out, n, B: tl.constexpr):
    first = tl.program_id(0) * (B // 2)
    at = first + tl.arange(0, B)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, value + first, mask=at < n)  # fault: race


@program
def overlapping_blocks():
    x, out = normal(300), torch.zeros(300)
    overlapping_blocks_kernel[(4,)](x, out, 300, B=128)
    return out, x + torch.arange(300) // 128 * 128


@triton.jit
def transpose_in_place_kernel(x, n, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x + r[:, None] * n + c[None, :])  # also
    tl.store(x + c[:, None] * n + r[None, :], tl.trans(tile))  # fault: race


@program
def transpose_in_place():
    x = normal(32, 32)
    want = x.T.clone()
    transpose_in_place_kernel[(2, 2)](x, 32, B=16)
    return x, want


@triton.jit
def shift_in_place_kernel(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at + 1, mask=at + 1 < n, other=0.0)  # also
    tl.store(x + at, value, mask=at < n)  # fault: race


@program
def shift_in_place():
    x = normal(300)
    want = torch.cat([x[1:], torch.zeros(1)])
    shift_in_place_kernel[(3,)](x, 300, B=128)
    return x, want


@triton.jit
def wrong_axis_kernel(x, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.program_id(1) * B + tl.arange(0, B)
    value = tl.load(x + row * cols + at)
    tl.store(out + tl.program_id(1) * cols + at, value)  # fault: race


@program
def wrong_axis():
    x, out = normal(4, 64), torch.zeros(4, 64)
    wrong_axis_kernel[(4, 2)](x, out, 64, B=32)
    return out, x


@triton.jit
def scatter_twice_kernel(x, index, out, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + tl.load(index + at), tl.load(x + at))  # fault: race


@program
def scatter_twice():
    x, index, out = normal(64), (torch.arange(64) % 40).to(torch.int32), torch.zeros(40)
    scatter_twice_kernel[(1,)](x, index, out, B=64)
    return out, torch.zeros(40).index_add(0, index.long(), x)


@triton.jit
def narrow_scope_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0)
    tl.atomic_add(out, total, scope="cta")  # fault: race


@program
def narrow_scope():
    x, out = normal(300), torch.zeros(1)
    narrow_scope_kernel[(3,)](x, out, 300, B=128)
    return out, x.sum(0, keepdim=True)


@triton.jit
def relaxed_lock_kernel(lock, total, B: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1, sem="relaxed") == 1:
        pass
    at = tl.arange(0, B)
    value = tl.load(total + at)  # also
    tl.store(total + at, value + at)  # fault: race
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="relaxed")


@program
def relaxed_lock():
    lock, total = torch.zeros(1, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    relaxed_lock_kernel[(4,)](lock, total, B=32)
    return total, torch.arange(32) * 4


@triton.jit
def unlock_by_store_kernel(lock, total, B: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:  # also
        pass
    at = tl.arange(0, B)
    tl.store(total + at, tl.load(total + at) + at)  # also
    tl.debug_barrier()
    tl.store(lock, 0)  # fault: race


@program
def unlock_by_store():
    lock, total = torch.zeros(1, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    unlock_by_store_kernel[(4,)](lock, total, B=32)
    return total, torch.arange(32) * 4


@triton.jit
def unlock_before_the_end_kernel(lock, total, B: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    at = tl.arange(0, B)
    value = tl.load(total + at)  # also
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
    tl.store(total + at, value + at)  # fault: race


@program
def unlock_before_the_end():
    lock, total = torch.zeros(1, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    unlock_before_the_end_kernel[(4,)](lock, total, B=32)
    return total, torch.arange(32) * 4


@triton.jit
def relaxed_flag_kernel(data, flag, out, B: tl.constexpr):
    at = tl.arange(0, B)
    if tl.program_id(0) == 0:
        tl.store(data + at, at * 3)  # also
        tl.debug_barrier()
        tl.atomic_xchg(flag, 1, sem="relaxed")
    else:
        while tl.atomic_add(flag, 0, sem="relaxed") == 0:
            pass
        tl.store(out + at, tl.load(data + at))  # fault: race


@program
def relaxed_flag():
    data, out = (torch.zeros(64, dtype=torch.int32) for _ in range(2))
    relaxed_flag_kernel[(2,)](data, torch.zeros(1, dtype=torch.int32), out, B=64)
    return out, torch.arange(64) * 3


@triton.jit
def last_program_reduces_kernel(x, partial, count, out, B: tl.constexpr, PARTS: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(partial + tl.program_id(0), tl.sum(tl.load(x + at), 0))  # also
    if tl.atomic_add(count, 1, sem="relaxed") == PARTS - 1:
        tl.store(out, tl.sum(tl.load(partial + tl.arange(0, PARTS)), 0))  # fault: race


@program
def last_program_reduces():
    x, out = normal(512), torch.zeros(1)
    last_program_reduces_kernel[(4,)](x, torch.zeros(4), torch.zeros(1, dtype=torch.int32), out, B=128, PARTS=4)
    return out, x.sum(0, keepdim=True)


@triton.jit
def accumulate_weights_kernel(dy, dw, rows, cols, B: tl.constexpr):
    at = tl.arange(0, B)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(dy + row * cols + at, mask=at < cols, other=0.0)
        seen = tl.load(dw + at, mask=at < cols, other=0.0)  # also
        tl.store(dw + at, seen + value, mask=at < cols)  # fault: race


@program
def accumulate_weights():
    dy, dw = normal(9, 60), torch.zeros(60)
    accumulate_weights_kernel[(3,)](dy, dw, 9, 60, B=64)
    return dw, dy.sum(0)
