# SPDX-License-Identifier: Apache-2.0
"""Row kernels in Triton, for row_jobs.py.

A program takes a row, whose length N is a power of two, so that nothing is masked. Where W and B are read
before the reduction their latency is hidden; after it, fewer registers are in use: EARLY chooses.
"""
import triton
import triton.language as tl


@triton.jit
def softmax_rows(X, Y, N: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * N + tl.arange(0, N)
    x = tl.load(X + at).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(Y + at, (e / tl.sum(e, 0)).to(Y.dtype.element_ty))


@triton.jit
def layer_norm_rows(X, W, B, Y, eps, N: tl.constexpr, EARLY: tl.constexpr):
    c = tl.arange(0, N)
    at = tl.program_id(0).to(tl.int64) * N + c
    x = tl.load(X + at).to(tl.float32)
    if EARLY:
        w = tl.load(W + c)
        b = tl.load(B + c)
    d = x - tl.sum(x, 0) / N
    scale = tl.rsqrt(tl.sum(d * d, 0) / N + eps)
    if not EARLY:
        w = tl.load(W + c)
        b = tl.load(B + c)
    y = d * scale * w.to(tl.float32) + b.to(tl.float32)
    tl.store(Y + at, y.to(Y.dtype.element_ty))


@triton.jit
def rms_norm_rows(X, W, Y, eps, N: tl.constexpr, EARLY: tl.constexpr):
    c = tl.arange(0, N)
    at = tl.program_id(0).to(tl.int64) * N + c
    x = tl.load(X + at).to(tl.float32)
    if EARLY:
        w = tl.load(W + c)
    scale = tl.rsqrt(tl.sum(x * x, 0) / N + eps)
    if not EARLY:
        w = tl.load(W + c)
    tl.store(Y + at, (x * scale * w.to(tl.float32)).to(Y.dtype.element_ty))


@triton.jit
def bias_gelu_blocks(X, B, Y, N: tl.constexpr, BLOCK: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    at = block * BLOCK + tl.arange(0, BLOCK)
    c = block % (N // BLOCK) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + at).to(tl.float32) + tl.load(B + c).to(tl.float32)
    y = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    tl.store(Y + at, y.to(Y.dtype.element_ty))


@triton.jit
def cross_entropy_rows(X, Label, Loss, N: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    own = tl.load(X + r * N + tl.load(Label + r)).to(tl.float32)
    x = tl.load(X + r * N + tl.arange(0, N)).to(tl.float32)
    most = tl.max(x, 0)
    tl.store(Loss + r, tl.log(tl.sum(tl.exp(x - most), 0)) + most - own)


@triton.jit
def sum_rows(X, Sum, N: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    x = tl.load(X + r * N + tl.arange(0, N)).to(tl.float32)
    tl.store(Sum + r, tl.sum(x, 0))


@triton.jit
def sum_columns(X, Sum, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, STEPS: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    c = tile % (N // BN) * BN + tl.arange(0, BN)
    first = tile // (N // BN) * (BM * STEPS) + tl.arange(0, BM)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(STEPS):
        total += tl.load(X + (first + step * BM)[:, None] * N + c[None, :]).to(tl.float32)
    tl.atomic_add(Sum + c, tl.sum(total, 0), sem="relaxed")


@triton.jit
def cumsum_rows(X, Y, N: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * N + tl.arange(0, N)
    y = tl.cumsum(tl.load(X + at).to(tl.float32), 0)
    tl.store(Y + at, y.to(Y.dtype.element_ty))


@triton.jit
def quantize_rows(X, Q, Scale, N: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    at = r * N + tl.arange(0, N)
    x = tl.load(X + at).to(tl.float32)
    most = tl.maximum(tl.max(tl.abs(x), 0), 1e-30)
    tl.store(Scale + r, most / 448.0)
    tl.store(Q + at, (x * (448.0 / most)).to(Q.dtype.element_ty))


@triton.jit
def rope_vectors(X, Cos, Sin, Y, HEADS: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    HALF: tl.constexpr = DIM // 2
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, HALF)
    at = r[:, None] * DIM + c[None, :]
    angle = (r // HEADS)[:, None] * HALF + c[None, :]
    a = tl.load(X + at).to(tl.float32)
    b = tl.load(X + at + HALF).to(tl.float32)
    cos = tl.load(Cos + angle)
    sin = tl.load(Sin + angle)
    tl.store(Y + at, (a * cos - b * sin).to(Y.dtype.element_ty))
    tl.store(Y + at + HALF, (b * cos + a * sin).to(Y.dtype.element_ty))


# --- rows too long for the registers of a program ----------------------------------------------------
# A program goes over its row twice, BLOCK elements at a time, and finds some of it in the L2 cache the
# second time.

@triton.jit
def softmax_long_rows(X, Y, N: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * N
    c = tl.arange(0, BLOCK)
    most = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        x = tl.load(X + first + start + c, eviction_policy="evict_last").to(tl.float32)
        greater = tl.maximum(most, x)
        total = total * tl.exp(most - greater) + tl.exp(x - greater)
        most = greater
    top = tl.max(most, 0)
    scale = 1 / tl.sum(total * tl.exp(most - top), 0)
    for start in range(0, N, BLOCK):
        x = tl.load(X + first + start + c, eviction_policy="evict_first").to(tl.float32)
        tl.store(Y + first + start + c, (tl.exp(x - top) * scale).to(Y.dtype.element_ty))


@triton.jit
def layer_norm_long_rows(X, W, B, Y, eps, N: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * N
    c = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        x = tl.load(X + first + start + c, eviction_policy="evict_last").to(tl.float32)
        sums += x
        squares += x * x
    mean = tl.sum(sums, 0) / N
    scale = tl.rsqrt(tl.sum(squares, 0) / N - mean * mean + eps)
    for start in range(0, N, BLOCK):
        x = tl.load(X + first + start + c, eviction_policy="evict_first").to(tl.float32)
        w = tl.load(W + start + c).to(tl.float32)
        b = tl.load(B + start + c).to(tl.float32)
        tl.store(Y + first + start + c, ((x - mean) * scale * w + b).to(Y.dtype.element_ty))


@triton.jit
def rms_norm_long_rows(X, W, Y, eps, N: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * N
    c = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        x = tl.load(X + first + start + c, eviction_policy="evict_last").to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, 0) / N + eps)
    for start in range(0, N, BLOCK):
        x = tl.load(X + first + start + c, eviction_policy="evict_first").to(tl.float32)
        w = tl.load(W + start + c).to(tl.float32)
        tl.store(Y + first + start + c, (x * scale * w).to(Y.dtype.element_ty))
