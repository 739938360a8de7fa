# SPDX-License-Identifier: Apache-2.0
"""Right programs: each function launches kernels on small arrays and compares the results with NumPy in float64.

`python -m warpwright check right.py::softmax` must find nothing in any of them, on every target.
"""

import pathlib
import sys

import numpy as np
import torch
import triton
import triton.language as tl

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "tests" / "foreign" / "stored")]

import kernels_of_users as users  # noqa: E402
import triton_kernels as kernels  # noqa: E402

FLOAT = torch.float32


def rng(seed=1):
    return np.random.default_rng(seed)


def normal(*shape, seed=1, dtype=FLOAT):
    return torch.from_numpy(rng(seed).standard_normal(shape).astype("f4")).to(dtype)


def near(actual, expected, tolerance=1e-5):
    got = actual.to(torch.float64).numpy() if isinstance(actual, torch.Tensor) else np.asarray(actual)
    scale = max(1.0, float(np.abs(expected).max()))
    worst = float(np.abs(got - expected).max())
    assert worst <= tolerance * scale, f"differs by {worst} from values up to {scale}"


def exact(tensor):
    return tensor.to(torch.float64).numpy()


def row_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def add():
    x, y = normal(1000), normal(1000, seed=2)
    out = torch.empty_like(x)
    kernels.add[lambda meta: (triton.cdiv(1000, meta["B"]),)](x, y, out, 1000, B=256)
    near(out, exact(x) + exact(y))


def bias_relu():
    x, bias = normal(5, 50, dtype=torch.float16), normal(50, seed=2, dtype=torch.float16)
    out = torch.empty_like(x)
    kernels.bias_relu[(5,)](x, bias, out, 50, B=64, num_warps=2)
    near(out, np.maximum(exact(x) + exact(bias), 0), 2e-3)


def softmax():
    x = normal(6, 300)
    out = torch.empty_like(x)
    kernels.softmax[(6,)](x, out, 300, B=512)
    near(out, row_softmax(exact(x)))


def softmax_of_eight_warps():
    x = normal(3, 1000)
    out = torch.empty_like(x)
    kernels.softmax[(3,)](x, out, 1000, B=1024, num_warps=8)
    near(out, row_softmax(exact(x)))


def softmax_backward():
    y, dy = torch.from_numpy(row_softmax(exact(normal(4, 200)))).to(FLOAT), normal(4, 200, seed=2)
    dx = torch.empty_like(y)
    users.softmax_backward[(4,)](y, dy, dx, 200, B=256)
    near(dx, exact(y) * (exact(dy) - (exact(y) * exact(dy)).sum(1, keepdims=True)))


def layer_norm_forward_and_backward():
    rows, cols, group = 12, 150, 4
    x, w, b, dy = normal(rows, cols), normal(cols, seed=2), normal(cols, seed=3), normal(rows, cols, seed=4)
    out, dx = torch.empty_like(x), torch.empty_like(x)
    mean, rstd = torch.empty(rows), torch.empty(rows)
    users.layer_norm_statistics[(rows,)](x, w, b, out, mean, rstd, cols, B=256)
    partial_w, partial_b = torch.empty(group, cols), torch.empty(group, cols)
    lock = torch.zeros(2 * group, dtype=torch.int32)
    users.layer_norm_dx[(rows,)](dy, x, w, mean, rstd, dx, partial_w, partial_b, lock, cols, GROUP=group, B=256)
    dw, db = torch.empty(cols), torch.empty(cols)
    for partial, total in [(partial_w, dw), (partial_b, db)]:
        users.sum_partials[(triton.cdiv(cols, 32),)](partial, total, group, cols, BR=16, BC=32)
    e, g = exact(x), exact(dy)
    m, r = e.mean(1, keepdims=True), 1 / np.sqrt(e.var(1, keepdims=True) + 1e-5)
    hat, wdy = (e - m) * r, g * exact(w)
    near(out, hat * exact(w) + exact(b))
    near(dx, (wdy - hat * (hat * wdy).mean(1, keepdims=True) - wdy.mean(1, keepdims=True)) * r)
    near(dw, (g * hat).sum(0))
    near(db, g.sum(0))


def layer_norm_of_halves():
    x, w, b = normal(3, 100, dtype=torch.float16), normal(100, seed=2), normal(100, seed=3)
    out = torch.empty(3, 100)
    kernels.layer_norm[(3,)](x, w, b, out, 100, B=128)
    e = exact(x)
    near(out, (e - e.mean(1, keepdims=True)) / np.sqrt(e.var(1, keepdims=True) + 1e-5) * exact(w) + exact(b))


def rms_norm():
    x = normal(3, 150, dtype=torch.bfloat16)
    out = torch.empty_like(x)
    kernels.rms_norm[(3,)](x, out, 150, B=64, num_warps=2)
    near(out, exact(x) / np.sqrt((exact(x) ** 2).mean(1, keepdims=True) + 1e-6), 8e-3)


def variance():
    x = normal(5, 200)
    out = torch.empty(5)
    users.variance[(5,)](x, out, 200, B=256)
    near(out, exact(x).var(1))


def cross_entropy_forward_and_backward():
    rows, cols = 4, 150
    logits = normal(rows, cols)
    labels = torch.from_numpy(rng(2).integers(0, cols, rows).astype("i4"))
    loss, grad = torch.empty(rows), torch.empty_like(logits)
    kernels.cross_entropy[(rows,)](logits, labels, loss, cols, B=256)
    users.cross_entropy_backward[(rows,)](logits, labels, grad, cols, B=64)
    p, at = row_softmax(exact(logits)), labels.numpy()
    near(loss, -np.log(p[range(rows), at]))
    p[range(rows), at] -= 1
    near(grad, p)


def rope():
    seq, heads, d = 6, 4, 32
    x, angle = normal(seq * 2, heads, d), rng(2).uniform(0, 6, (seq, d // 2))
    cos, sin = (torch.from_numpy(f(angle).astype("f4")) for f in (np.cos, np.sin))
    out = torch.empty_like(x)
    users.rope[(seq * 2,)](x, cos, sin, out, seq, HEADS=heads, D=d)
    first, second = exact(x)[..., :d // 2], exact(x)[..., d // 2:]
    c, s = (np.tile(exact(v), (2, 1))[:, None] for v in (cos, sin))
    near(out, np.concatenate([first * c - second * s, second * c + first * s], -1))


def gelu():
    from math import erf
    x = normal(300)
    out = torch.empty_like(x)
    kernels.gelu[(3,)](x, out, 300, B=128)
    near(out, 0.5 * exact(x) * (1 + np.vectorize(erf)(exact(x) / np.sqrt(2))))


def silu_mul():
    x, y = normal(300, dtype=torch.bfloat16), normal(300, seed=2, dtype=torch.bfloat16)
    out = torch.empty_like(x)
    kernels.silu_mul[(3,)](x, y, out, 300, B=128)
    near(out, exact(x) / (1 + np.exp(-exact(x))) * exact(y), 8e-3)


def dropout():
    x = normal(1000)
    out, again = torch.empty_like(x), torch.empty_like(x)
    for result in (out, again):
        users.seeded_dropout[(4,)](x, result, 1000, 0.5, 123, B=256)
    kept = exact(out) != 0
    assert 300 < kept.sum() < 700 and (exact(out) == exact(again)).all()
    near(out, np.where(kept, exact(x) * 2, 0))


def adam():
    n = 500
    param, grad, m = (normal(n, seed=s) for s in (1, 2, 3))
    v = normal(n, seed=4) ** 2
    before = [exact(t) for t in (param, grad, m, v)]
    users.adam_step[(2,)](param, grad, m, v, n, 0.01, 0.9, 0.999, 1e-8, B=256)
    new_m = 0.9 * before[2] + 0.1 * before[1]
    new_v = 0.999 * before[3] + 0.001 * before[1] ** 2
    near(param, before[0] - 0.01 * new_m / (np.sqrt(new_v) + 1e-8))
    near(v, new_v)


def matmul():
    a, b = normal(70, 90, dtype=torch.float16), normal(90, 50, seed=2, dtype=torch.float16)
    c = torch.empty(70, 50)
    kernels.matmul[(3, 2)](a, b, c, 70, 50, 90, BM=32, BN=32, BK=32, ACC=tl.float32, OUT=tl.float32)
    near(c, exact(a) @ exact(b), 1e-4)


def matmul_of_bytes():
    a, b = (torch.from_numpy(rng(s).integers(-128, 128, shape).astype("i1")) for s, shape in ((1, (40, 64)), (2, (64, 48))))
    c = torch.empty(40, 48, dtype=torch.int32)
    kernels.matmul[(3, 3)](a, b, c, 40, 48, 64, BM=16, BN=16, BK=32, ACC=tl.int32, OUT=tl.int32)
    near(c, exact(a) @ exact(b), 0)


CONFIGS = [triton.Config(dict(BM=bm, BN=64, BK=32, GROUP=4), num_warps=warps, num_stages=stages)
           for bm, warps, stages in ((64, 4, 3), (128, 8, 2), (32, 2, 4))]
tuned_matmul = triton.autotune(configs=CONFIGS, key=["M", "N", "K"])(users.swizzled_matmul)


def matmul_autotuned():
    M, N, K = 200, 136, 104
    a, b = normal(M, K, dtype=torch.float16), normal(K, N, seed=2, dtype=torch.float16)
    c = torch.empty(M, N, dtype=torch.float16)
    tuned_matmul[lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), ACTIVATION="leaky_relu")
    want = exact(a) @ exact(b)
    near(c, np.where(want >= 0, want, 0.01 * want), 2e-3)


def matmul_of_a_transpose():
    M, N, K = 64, 64, 96
    a, b = normal(K, M, dtype=torch.float16).T, normal(N, K, seed=2, dtype=torch.float16).T
    c = torch.empty(M, N, dtype=torch.float16)
    users.swizzled_matmul[(4,)](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(),
                                BM=32, BN=32, BK=32, GROUP=2, ACTIVATION="")
    near(c, exact(a) @ exact(b), 2e-3)


def matmul_persistent():
    M, N, K = 130, 70, 64
    a, b = normal(M, K, dtype=torch.float16), normal(K, N, seed=2, dtype=torch.float16)
    c = torch.empty(M, N, dtype=torch.float16)
    users.persistent_matmul[(3,)](a, b, c, M, N, K, BM=64, BN=32, BK=32)
    near(c, exact(a) @ exact(b), 2e-3)


def matmul_grouped():
    sizes, N, K = [20, 0, 45, 7], 48, 64
    starts = torch.tensor([0, *np.cumsum(sizes)], dtype=torch.int32)
    a, b = normal(sum(sizes), K, dtype=torch.float16), normal(4, K, N, seed=2, dtype=torch.float16)
    c = torch.empty(sum(sizes), N, dtype=torch.float16)
    users.grouped_matmul[(4, 2)](a, b, c, starts, N, K, BM=16, BN=32, BK=32)
    at = starts.numpy()
    near(c, np.concatenate([exact(a)[at[g]:at[g + 1]] @ exact(b)[g] for g in range(4)]), 2e-3)


def matmul_split_k():
    M, N, K = 40, 40, 256
    a, b = normal(M, K, dtype=torch.float16), normal(K, N, seed=2, dtype=torch.float16)
    c = torch.zeros(M, N)
    users.split_k_matmul[(2, 2, 4)](a, b, c, M, N, K, BM=32, BN=32, BK=32, SPLIT=4)
    near(c, exact(a) @ exact(b), 1e-4)


def matmul_of_large_tiles():
    M, N, K = 128, 128, 128
    a, b = normal(M, K, dtype=torch.float16), normal(K, N, seed=2, dtype=torch.float16)
    c = torch.empty(M, N)
    kernels.matmul_tiles[(1, 1)](a, b, c, N, K, BM=128, BN=128, BK=64, num_stages=3)
    near(c, exact(a) @ exact(b), 1e-4)


def attention(causal):
    heads, seq, d = 2, 100, 32
    q, k, v = (normal(heads, seq, d, seed=s, dtype=torch.float16) for s in (1, 2, 3))
    out, lse = torch.empty_like(q), torch.empty(heads, seq)
    users.attention_forward[(triton.cdiv(seq, 32), heads)](q, k, v, out, lse, seq, 0.25, D=d, BM=32, BN=32, CAUSAL=causal)
    s = exact(q) @ exact(k).transpose(0, 2, 1) * 0.25
    if causal:
        s = np.where(np.tril(np.ones((seq, seq), bool)), s, -np.inf)
    near(out, row_softmax(s) @ exact(v), 3e-3)
    near(lse, np.log(np.exp(s - s.max(-1, keepdims=True)).sum(-1)) + s.max(-1), 1e-3)


def attention_full():
    attention(False)


def attention_causal():
    attention(True)


def attention_backward():
    seq, d, scale = 64, 32, 0.25
    q, k, v, dout = (normal(seq, d, seed=s, dtype=torch.float16) for s in (1, 2, 3, 4))
    out, lse, delta = torch.empty_like(q), torch.empty(1, seq), torch.empty(seq)
    dq, dk, dv = (torch.empty(seq, d) for _ in range(3))
    users.attention_forward[(2, 1)](q, k, v, out, lse, seq, scale, D=d, BM=32, BN=32, CAUSAL=False)
    users.attention_delta[(2,)](out, dout, delta, seq, D=d, BM=32)
    users.attention_dkdv[(2,)](q, k, v, dout, lse, delta, dk, dv, seq, scale, D=d, BM=32, BN=32)
    users.attention_dq[(2,)](q, k, v, dout, lse, delta, dq, seq, scale, D=d, BM=32, BN=32)
    p = row_softmax(exact(q) @ exact(k).T * scale)
    g = exact(dout)
    dp = g @ exact(v).T
    ds = p * (dp - (g * (p @ exact(v))).sum(1, keepdims=True))
    near(dv, p.T @ g, 5e-3)
    near(dk, ds.T @ exact(q) * scale, 1e-2)
    near(dq, ds @ exact(k) * scale, 1e-2)


def running_sum():
    x = torch.from_numpy(rng().integers(-50, 50, (4, 64)).astype("i4"))
    out = torch.empty_like(x)
    kernels.running_sum[(4,)](x, out, B=64)
    near(out, exact(x).cumsum(1), 0)


def scan_in_chunks():
    length = 200
    a = torch.from_numpy(rng().uniform(0.5, 1, (3, length)).astype("f4"))
    b = normal(3, length, seed=2)
    out = torch.empty_like(b)
    users.chunked_scan[(3,)](a, b, out, length, B=64)
    want, state = np.zeros((3, length)), np.zeros(3)
    for i in range(length):
        state = state * exact(a)[:, i] + exact(b)[:, i]
        want[:, i] = state
    near(out, want, 1e-4)


def causal_conv():
    x, w = normal(3, 100), normal(3, 4, seed=2)
    out = torch.empty_like(x)
    users.causal_conv[(3, 2)](x, w, out, 100, WIDTH=4, B=64)
    padded = np.pad(exact(x), ((0, 0), (3, 0)))
    near(out, sum(padded[:, tap:tap + 100] * exact(w)[:, tap:tap + 1] for tap in range(4)))


def quantise_blocks():
    x = normal(4, 200)
    out, scales = torch.empty(4, 200, dtype=torch.int8), torch.empty(4, 4)
    users.quantise_blocks[(4, 4)](x, out, scales, 200, B=64)
    each = np.repeat(exact(scales), 64, 1)[:, :200]
    near(exact(out) * each, exact(x), 0.51 * float(scales.max()))


def dequantise_int4():
    packed = torch.from_numpy(rng().integers(0, 256, (3, 50)).astype("u1"))
    scales = normal(3, 4, seed=2)
    out = torch.empty(3, 100)
    users.dequantise_int4[(3,)](packed, scales, out, 100, GROUP=32, B=128)
    nibbles = np.stack([packed.numpy() & 15, packed.numpy() >> 4], -1).reshape(3, 100).astype("f8") - 8
    near(out, nibbles * np.repeat(exact(scales), 32, 1)[:, :100])


def atomics():
    x = torch.from_numpy(rng().integers(-99, 99, 500).astype("i4"))
    total, least, most = torch.zeros(1, dtype=torch.int32), torch.full((4,), 1000, dtype=torch.int32), torch.full((4,), -1000, dtype=torch.int32)
    kernels.atomic_sum[(4,)](x, total, 500, B=128)
    kernels.atomic_extremes[(4,)](x, least, most, 500, B=128)
    assert int(total[0]) == int(x.sum())
    near(least, exact(x).reshape(-1, 4).min(0), 0)
    near(most, exact(x).reshape(-1, 4).max(0), 0)


def spin_lock():
    lock, total = torch.zeros(1, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    kernels.spin_lock[(5,)](lock, total, B=32, num_warps=1)
    near(total, np.arange(32) * 5.0, 0)


def sort_and_histogram():
    x = torch.from_numpy(rng().integers(0, 16, (4, 64)).astype("i4"))
    out, bins = torch.empty_like(x), torch.empty(16, dtype=torch.int32)
    kernels.sort_rows[(1,)](x, out, ROWS=4, B=64)
    kernels.histogram[(1,)](x, bins, B=256, BINS=16)
    near(out, np.sort(exact(x), 1), 0)
    near(bins, np.bincount(x.numpy().reshape(-1), minlength=16), 0)


def gather_and_embedding():
    table = torch.from_numpy(rng().integers(0, 1000, (4, 32)).astype("i4"))
    index = torch.from_numpy(rng(2).integers(0, 32, (4, 32)).astype("i4"))
    out = torch.empty_like(table)
    kernels.gather_columns[(1,)](table, index, out, ROWS=4, B=32, num_warps=1)
    near(out, np.take_along_axis(table.numpy(), index.numpy().astype(int), 1), 0)
    words, rows = normal(5, 20), torch.tensor([4, 0, 2], dtype=torch.int32)
    picked = torch.empty(3, 20)
    kernels.embedding[(3,)](words, rows, picked, 20, B=32)
    near(picked, exact(words)[[4, 0, 2]], 0)


def transpose():
    x = normal(40, 50, dtype=torch.float16)
    out = torch.empty(50, 40, dtype=torch.float16)
    kernels.transpose[(2, 2)](x, out, 40, 50, B=32)
    near(out, exact(x).T, 0)


def column_means():
    x = normal(50, 40)
    out = torch.empty(40)
    kernels.column_means[(3,)](x, out, 50, 40, BR=16, BC=16)
    near(out, exact(x).mean(0))


def descriptors_of_the_device():
    x = normal(64, 64, dtype=torch.float16)
    out = torch.empty_like(x)
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8))
    users.copy_by_descriptor[(2, 2)](x, out, 64, 64, BM=32, BN=32)
    near(out, exact(x) * 2, 0)


def descriptors_of_the_host():
    from triton.tools.tensor_descriptor import TensorDescriptor
    M, N, K = 64, 64, 128
    a, b = normal(M, K, dtype=torch.float16), normal(K, N, seed=2, dtype=torch.float16)
    c = torch.empty(M, N, dtype=torch.float16)
    maps = [TensorDescriptor.from_tensor(t, block) for t, block in ((a, [64, 64]), (b, [64, 32]), (c, [64, 32]))]
    users.matmul_by_descriptor[(1, 2)](*maps, K, BM=64, BN=32, BK=64)
    near(c, exact(a) @ exact(b), 2e-3)


PROGRAMS = [value for name, value in list(globals().items())
            if callable(value) and getattr(value, "__module__", "") == __name__
            and name not in ("rng", "normal", "near", "exact", "row_softmax", "attention")
            and value.__code__.co_argcount == 0]

# TensorDescriptor asks a dtype for its size.
NEED_TORCH_2 = [descriptors_of_the_host]

if __name__ == "__main__":
    for program in PROGRAMS:
        program()
        print(program.__name__, "is right")
