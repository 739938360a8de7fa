# SPDX-License-Identifier: Apache-2.0
# Kernels of our own in Triton, and how the corpus launches each. make_corpus.py compiles them; nothing
# else needs Triton. A row of KERNELS is
#
#   (kernel, targets, warps, pointer types and values, constants, options of `warpwright sim`)
#
# A type that ends in `:16` is of an argument that Triton knows to be a multiple of 16. `targets` are compute capabilities; each makes a file of its own and a line of cases.txt.
import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def bias_relu(x, bias, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    mask = at < cols
    value = tl.load(x + row * cols + at, mask=mask, other=0.0) + tl.load(bias + at, mask=mask, other=0.0)
    tl.store(out + row * cols + at, tl.maximum(value, 0.0), mask=mask)


@triton.jit
def softmax(x, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    mask = at < cols
    value = tl.load(x + row * cols + at, mask=mask, other=float("-inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * cols + at, value / tl.sum(value, 0), mask=mask)


@triton.jit
def layer_norm(x, w, b, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    mask = at < cols
    value = tl.load(x + row * cols + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(value, 0) / cols
    centred = tl.where(mask, value - mean, 0.0)
    var = tl.sum(centred * centred, 0) / cols
    scaled = centred / tl.sqrt(var + 1e-5)
    scaled = scaled * tl.load(w + at, mask=mask) + tl.load(b + at, mask=mask)
    tl.store(out + row * cols + at, scaled, mask=mask)


@triton.jit
def rms_norm(x, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((B,), tl.float32)
    for first in range(0, cols, B):
        at = first + tl.arange(0, B)
        value = tl.load(x + row * cols + at, mask=at < cols, other=0.0).to(tl.float32)
        total += value * value
    scale = tl.rsqrt(tl.sum(total, 0) / cols + 1e-6)
    for first in range(0, cols, B):
        at = first + tl.arange(0, B)
        value = tl.load(x + row * cols + at, mask=at < cols, other=0.0).to(tl.float32)
        tl.store(out + row * cols + at, (value * scale).to(tl.bfloat16), mask=at < cols)


@triton.jit
def atomic_sum(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0), 0))


@triton.jit
def atomic_extremes(x, least, most, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    value = tl.load(x + at, mask=mask)
    tl.atomic_min(least + at % 4, value, mask=mask)
    tl.atomic_max(most + at % 4, value, mask=mask)


@triton.jit
def spin_lock(lock, total, B: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    at = tl.arange(0, B)
    tl.store(total + at, tl.load(total + at, volatile=True) + at)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def row_argmax(x, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    value = tl.load(x + row * cols + at, mask=at < cols, other=-1000000)
    tl.store(out + row, tl.argmax(value, 0))


@triton.jit
def running_sum(x, out, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    tl.store(out + row * B + at, tl.cumsum(tl.load(x + row * B + at), 0))


@triton.jit
def affine_pair(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def linear_scan(a, b, out, B: tl.constexpr):
    at = tl.arange(0, B)
    _, value = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 0, affine_pair)
    tl.store(out + at, value)


@triton.jit
def sort_rows(x, out, ROWS: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), 1))


@triton.jit
def histogram(x, out, B: tl.constexpr, BINS: tl.constexpr):
    counts = tl.histogram(tl.load(x + tl.arange(0, B)), BINS)
    tl.store(out + tl.arange(0, BINS), counts)


@triton.jit
def gather_columns(x, index, out, ROWS: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), 1))


@triton.jit
def embedding(table, index, out, cols, B: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    at = tl.arange(0, B)
    value = tl.load(table + row * cols + at, mask=at < cols)
    tl.store(out + tl.program_id(0) * cols + at, value, mask=at < cols)


@triton.jit
def transpose(x, out, rows, cols, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    tile = tl.load(x + r[:, None] * cols + c[None, :], mask=inside)
    inside_t = (c[:, None] < cols) & (r[None, :] < rows)
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(tile), mask=inside_t)


@triton.jit
def gelu(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), mask=at < n)


@triton.jit
def functions(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=1.0)
    tl.store(out + at, tl.log(v) + tl.exp2(v) - tl.sqrt_rn(v) + tl.cos(v) * tl.sin(v), mask=at < n)


@triton.jit
def silu_mul(x, y, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    u = tl.load(y + at, mask=at < n).to(tl.float32)
    tl.store(out + at, (v * tl.sigmoid(v) * u).to(tl.bfloat16), mask=at < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           ACC: tl.constexpr, OUT: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), ACC)
    for k in range(0, K, BK):
        at = tl.load(a + rm[:, None] * K + (k + rk)[None, :],
                     mask=(rm[:, None] < M) & ((k + rk)[None, :] < K), other=0)
        bt = tl.load(b + (k + rk)[:, None] * N + rn[None, :],
                     mask=((k + rk)[:, None] < K) & (rn[None, :] < N), other=0)
        acc = tl.dot(at, bt, acc, out_dtype=ACC)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(OUT), mask=(rm[:, None] < M) & (rn[None, :] < N))


# Whole tiles, of a size for which tensor cores with tensor memory are used.
@triton.jit
def matmul_tiles(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        rk = start + tl.arange(0, BK)
        acc = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


# Block scales: one for EACH elements of a row of a and of b, which holds its columns; PACK elements to a byte.
@triton.jit
def matmul_scaled(a, scale_a, b, scale_b, c, N, K, FORMAT: tl.constexpr, PACK: tl.constexpr, EACH: tl.constexpr,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        rk = start // PACK + tl.arange(0, BK // PACK)
        rs = start // EACH + tl.arange(0, BK // EACH)
        x = tl.load(a + rm[:, None] * (K // PACK) + rk[None, :])
        y = tl.load(b + rn[:, None] * (K // PACK) + rk[None, :])
        scale_x = tl.load(scale_a + rm[:, None] * (K // EACH) + rs[None, :])
        scale_y = tl.load(scale_b + rn[:, None] * (K // EACH) + rs[None, :])
        acc = tl.dot_scaled(x, scale_x, FORMAT, y.T, scale_y, FORMAT, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def attention(q, k, v, out, seq, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    qt = tl.load(q + rm[:, None] * D + rd[None, :])
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for first in range(0, seq, BN):
        rn = first + tl.arange(0, BN)
        kt = tl.load(k + rn[:, None] * D + rd[None, :])
        s = tl.dot(qt, tl.trans(kt)) * scale
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new_top[:, None])
        keep = tl.exp(top - new_top)
        total = total * keep + tl.sum(p, 1)
        vt = tl.load(v + rn[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(tl.float16), vt, acc * keep[:, None])
        top = new_top
    tl.store(out + rm[:, None] * D + rd[None, :], acc / total[:, None])


@triton.jit
def random_bits(out, seed, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + at, tl.randint(seed, at))


@triton.jit
def narrow(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, v.to(tl.float8e5).to(tl.float32), mask=at < n)


@triton.jit
def quantise(x, out, scale, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n) / scale
    v = tl.floor(v + 0.5)
    v = tl.minimum(tl.maximum(v, -128.0), 127.0)
    tl.store(out + at, v.to(tl.int8), mask=at < n)


@triton.jit(noinline=True)
def collatz_length(value):
    length = 0
    while value != 1:
        value = tl.where(value % 2 == 0, value // 2, 3 * value + 1)
        length += 1
    return length


@triton.jit
def collatz(out):
    tl.store(out + tl.program_id(0), collatz_length(tl.program_id(0) + 1))


@triton.jit
def packed_bytes(x, y, out, B: tl.constexpr):
    at = tl.arange(0, B)
    value = tl.inline_asm_elementwise("vabsdiff4.u32.u32.u32 $0, $1, $2, $3;", "=r,r,r,r",
                                      [tl.load(x + at), tl.load(y + at), tl.zeros((B,), tl.uint8)],
                                      dtype=tl.uint8, is_pure=True, pack=4)
    tl.store(out + at, value)


@triton.jit
def cross_entropy(logits, labels, loss, cols, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    v = tl.load(logits + row * cols + at, mask=at < cols, other=float("-inf"))
    top = tl.max(v, 0)
    total = tl.log(tl.sum(tl.exp(v - top), 0)) + top
    tl.store(loss + row, total - tl.load(logits + row * cols + tl.load(labels + row)))


@triton.jit
def column_means(x, out, rows, cols, BR: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    acc = tl.zeros((BC,), tl.float32)
    for first in range(0, rows, BR):
        r = first + tl.arange(0, BR)
        tile = tl.load(x + r[:, None] * cols + c[None, :],
                       mask=(r[:, None] < rows) & (c[None, :] < cols), other=0.0)
        acc += tl.sum(tile, 0)
    tl.store(out + c, acc / rows, mask=c < cols)


@triton.jit
def persistent_scale(x, out, tiles, B: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        at = tile * B + tl.arange(0, B)
        tl.store(out + at, tl.load(x + at) * 2 + tile)


# --- what the launches need from NumPy ----------------------------------------------------------

def data():
    """Arrays that no expression of `sim` states, by file name."""
    rng = np.random.default_rng(25)
    ints = rng.integers(-50, 50, (4, 64), dtype=np.int32)
    a, b = rng.uniform(0.5, 1, 64).astype("f4"), rng.uniform(-1, 1, 64).astype("f4")
    scan, state = [], 0.0
    for i in range(64):
        state = state * float(a[i]) + float(b[i])
        scan.append(state)
    index = rng.integers(0, 32, (4, 32), dtype=np.int32)
    table = rng.integers(0, 1000, (4, 32), dtype=np.int32)
    labels = np.array([3, 0, 49], dtype=np.int32)
    logits = rng.uniform(-3, 3, (3, 50)).astype("f4")
    loss = np.log(np.exp(logits.astype("f8")).sum(1)) - logits[range(3), labels]
    small = rng.uniform(-40, 40, 100).astype("f4")
    bytes_x, bytes_y = (rng.integers(0, 256, 256, dtype=np.uint8) for _ in range(2))
    positive = rng.uniform(0.1, 6, 100).astype("f4")
    p = positive.astype("f8")
    lengths = []
    for n in range(1, 20):
        length = 0
        while n != 1:
            n, length = (n // 2 if n % 2 == 0 else 3 * n + 1), length + 1
        lengths.append(length)
    return {
        "ints": ints, "ints_argmax": ints.argmax(1).astype("i4"), "ints_cumsum": ints.cumsum(1, dtype="i4"),
        "ints_sorted": np.sort(ints, 1), "scan_a": a, "scan_b": b, "scan_out": np.array(scan, "f4"),
        "ints_histogram": np.bincount((ints + 50).reshape(-1) // 7, minlength=16).astype("i4"),
        "ints_binned": ((ints + 50) // 7).astype("i4"),
        "gather_index": index, "gather_table": table,
        "gather_out": np.take_along_axis(table, index, 1),
        "labels": labels, "logits": logits, "loss": loss.astype("f4"),
        "small": small, "small_e5m2": to_e5m2(small), "small_s8": np.clip(np.floor(small / 0.25 + 0.5), -128, 127).astype("i1"),
        "bytes_x": bytes_x, "bytes_y": bytes_y,
        "bytes_distance": np.abs(bytes_x.astype(int) - bytes_y.astype(int)).astype("u1"),
        "positive": positive,
        "functions_out": (np.log(p) + np.exp2(p) - np.sqrt(p) + np.cos(p) * np.sin(p)).astype("f4"),
        "collatz": np.array(lengths, "i4"), "philox": philox(7, 64),
    }


def to_e5m2(values):
    """Round to nearest even with two bits of mantissa; the values are normal numbers of e5m2."""
    exponent = np.floor(np.log2(np.abs(values.astype("f8"))))
    step = 2.0 ** (exponent - 2)
    return (np.round(values / step) * step).astype("f4")


def philox(seed, n):
    """Philox 4x32-10, the first word, by its paper (Salmon et al. 2011)."""
    out = []
    for i in range(n):
        c, k = [i, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
        for _ in range(10):
            p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
            k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
        out.append(c[0])
    return np.array(out, np.uint32).view(np.int32)




def scaled_sum(each, value):
    """The product of matmul_scaled as an expectation; `value` of a scale."""
    scale = lambda of, i: value.format(f"${of}[:, {i}:{i + 1}]")
    return " + ".join(f"($0[:, {each * i}:{each * i + each}] @ $2[:, {each * i}:{each * i + each}].T) * {scale(1, i)} * "
                      f"({scale(3, i)}).T" for i in range(128 // each))


F32, F16, BF16, I32, I8 = "*fp32", "*fp16", "*bf16", "*i32", "*i8"
MM = dict(BM=16, BN=16, BK=32)

KERNELS = [
    (add, [70, 75, 80, 90, 100, 120], 4, [F32, F32, F32, "i32"], dict(B=256),
     "--grid 3 --arg 0=f32[600]:rand:1 --arg 1=f32[600]:rand:2 --arg 2=f32[600] --arg 3=i32:600 --expect '$2 == $0 + $1'"),
    (bias_relu, [80], 2, [F16, F16, F16, "i32"], dict(B=64),
     "--grid 3 --arg 0=f16[3,50]:rand:-2,2,1 --arg 1=f16[50]:rand:2 --arg 2=f16[3,50] --arg 3=i32:50 "
     "--expect '$2 == max(f16($0 + $1), 0)'"),
    (softmax, [70, 80, 90], 4, [F32, F32, "i32"], dict(B=256),
     "--grid 2 --arg 0=f32[2,200]:randn:1 --arg 1=f32[2,200] --arg 2=i32:200 "
     "--expect '$1 ~= exp($0) / sum(exp($0), axis=1, keepdims=True)'"),
    (layer_norm, [90, 100], 4, [F16, F32, F32, F32, "i32"], dict(B=128),
     "--grid 2 --arg 0=f16[2,100]:randn:1 --arg 1=f32[100]:rand:2 --arg 2=f32[100]:rand:3 --arg 3=f32[2,100] --arg 4=i32:100 "
     "--expect '$3 ~= ($0 - mean($0, axis=1, keepdims=True)) / sqrt(mean(($0 - mean($0, axis=1, keepdims=True)) ** 2, axis=1, keepdims=True) + 1e-5) * $1 + $2'"),
    (rms_norm, [90], 2, [BF16, BF16, "i32"], dict(B=64),
     "--grid 2 --arg 0=bf16[2,150]:randn:1 --arg 1=bf16[2,150] --arg 2=i32:150 "
     "--expect '$1 ~= $0 / sqrt(mean($0 ** 2, axis=1, keepdims=True) + 1e-6)'"),
    (atomic_sum, [80, 120], 2, [I32, I32, "i32"], dict(B=128),
     "--grid 4 --arg 0=i32[500]:randint:-99,99,1 --arg 1=i32[1]:zeros --arg 2=i32:500 --expect '$1[0] == sum($0)'"),
    (atomic_extremes, [90], 1, [I32, I32, I32, "i32"], dict(B=64),
     "--grid 2 --arg 0=i32[32,4]:randint:-99,99,1 --arg 1=i32[4]:full:1000 --arg 2=i32[4]:full:-1000 --arg 3=i32:128 "
     "--expect '$1 == min($0, axis=0)' --expect '$2 == max($0, axis=0)'"),
    (spin_lock, [80], 1, [I32, I32], dict(B=32),
     "--grid 5 --arg 0=i32[1]:zeros --arg 1=i32[32]:zeros --expect '$1[3] == 15' --expect '$1[31] == 155'"),
    (row_argmax, [80, 100], 2, [I32, I32, "i32"], dict(B=64),
     "--grid 4 --arg 0=@ints.npy --arg 1=i32[4] --arg 2=i32:64 --same 1=ints_argmax.npy"),
    (running_sum, [70, 90, 103, 121], 2, [I32, I32], dict(B=64),
     "--grid 4 --arg 0=@ints.npy --arg 1=i32[4,64] --same 1=ints_cumsum.npy"),
    (linear_scan, [80], 1, [F32, F32, F32], dict(B=64),
     "--grid 1 --arg 0=@scan_a.npy --arg 1=@scan_b.npy --arg 2=f32[64] --near 2=scan_out.npy"),
    (sort_rows, [90], 2, [I32, I32], dict(ROWS=4, B=64),
     "--grid 1 --arg 0=@ints.npy --arg 1=i32[4,64] --same 1=ints_sorted.npy"),
    (histogram, [80], 2, [I32, I32], dict(B=256, BINS=16),
     "--grid 1 --arg 0=@ints_binned.npy --arg 1=i32[16] --same 1=ints_histogram.npy"),
    (gather_columns, [90], 1, [I32, I32, I32], dict(ROWS=4, B=32),
     "--grid 1 --arg 0=@gather_table.npy --arg 1=@gather_index.npy --arg 2=i32[4,32] --same 2=gather_out.npy"),
    (embedding, [80], 1, [F32, I32, F32, "i32"], dict(B=32),
     "--grid 3 --arg 0=f32[5,20]:arange --arg 1=i32[3]:list:4,0,2 --arg 2=f32[3,20] --arg 3=i32:20 "
     "--expect '$2[0] == $0[4]' --expect '$2[1] == $0[0]' --expect '$2[2] == $0[2]'"),
    (transpose, [80, 90], 4, [F16, F16, "i32", "i32"], dict(B=32),
     "--grid 2,2 --arg 0=f16[40,50]:arange --arg 1=f16[50,40] --arg 2=i32:40 --arg 3=i32:50 --expect '$1 == $0.T'"),
    (gelu, [80], 2, [F32, F32, "i32"], dict(B=128),
     "--grid 2 --arg 0=f32[200]:randn:1 --arg 1=f32[200] --arg 2=i32:200 --expect '$1 ~= 0.5 * $0 * (1 + erf($0 / sqrt(2.0)))'"),
    (functions, [90], 2, [F32, F32, "i32"], dict(B=128),
     "--grid 1 --arg 0=@positive.npy --arg 1=f32[100] --arg 2=i32:100 --near 1=functions_out.npy"),
    (silu_mul, [90, 120], 2, [BF16, BF16, BF16, "i32"], dict(B=128),
     "--grid 2 --arg 0=bf16[200]:randn:1 --arg 1=bf16[200]:randn:2 --arg 2=bf16[200] --arg 3=i32:200 "
     "--expect '$2 ~= $0 / (1 + exp(0 - $0)) * $1'"),
    (matmul, [70, 75, 80, 90, 100, 120], 2, [F16, F16, F32, "i32", "i32", "i32"], dict(**MM, ACC=tl.float32, OUT=tl.float32),
     "--grid 2,2 --arg 0=f16[30,70]:randint:-4,4,1 --arg 1=f16[70,20]:randint:-4,4,2 --arg 2=f32[30,20] --arg 3=i32:30 --arg 4=i32:20 --arg 5=i32:70 "
     "--expect '$2 == $0 @ $1'"),
    ((matmul, "bf16"), [80, 90], 2, [BF16, BF16, BF16, "i32", "i32", "i32"], dict(**MM, ACC=tl.float32, OUT=tl.bfloat16),
     "--grid 2,2 --arg 0=bf16[30,70]:randn:1 --arg 1=bf16[70,20]:randn:2 --arg 2=bf16[30,20] --arg 3=i32:30 --arg 4=i32:20 --arg 5=i32:70 "
     "--expect '$2 ~= $0 @ $1'"),
    ((matmul, "tf32"), [80, 90], 2, [F32, F32, F32, "i32", "i32", "i32"], dict(**MM, ACC=tl.float32, OUT=tl.float32),
     "--grid 2,2 --arg 0=f32[30,70]:randint:-4,4,1 --arg 1=f32[70,20]:randint:-4,4,2 --arg 2=f32[30,20] --arg 3=i32:30 --arg 4=i32:20 --arg 5=i32:70 "
     "--expect '$2 == $0 @ $1'"),
    # Triton 3.9 leaves out the fences of tensor memory.
    *[((matmul_scaled, name), [100], 4, [f"{data}:16", f"{scale}:16", f"{data}:16", f"{scale}:16", "*fp32:16", "i32:16", "i32:16"],
       dict(FORMAT=kind, PACK=pack, EACH=each, BM=128, BN=64, BK=128),
       f"--grid 1 --arg 0={kind}[128,128]:randint:-4,4,1 --arg 1={scales.format(128, 128 // each)} --arg 2={kind}[64,128]:randint:-4,4,2 "
       f"--arg 3={scales.format(64, 128 // each)} --arg 4=f32[128,64] --arg 5=i32:64 --arg 6=i32:128 --expect '$4 == {scaled_sum(each, value)}' "
       "--check all,-fence")
      for name, kind, data, pack, scale, each, scales, value in [
          ("mxfp8", "e4m3", "*fp8e4nv", 1, "*u8", 32, "u8[{},{}]:randint:124,130,3", "2.0 ** ({} - 127.0)"),
          ("mxfp4", "e2m1", "*u8", 2, "*u8", 32, "u8[{},{}]:randint:124,130,3", "2.0 ** ({} - 127.0)"),
          ("nvfp4", "e2m1", "*u8", 2, "*fp8e4nv", 16, "e4m3[{},{}]:randint:1,9,3", "{}")]],
    *[((matmul_tiles, name), [100], 4, [f"*{name}:16", f"*{name}:16", "*fp32:16", "i32:16", "i32:16"], dict(BM=bm, BN=32, BK=bk),
       f"--grid {128 // bm},2 --arg 0={numpy}[128,128]:randint:-4,4,1 --arg 1={numpy}[128,64]:randint:-4,4,2 --arg 2=f32[128,64] --arg 3=i32:64 "
       "--arg 4=i32:128 --expect '$2 == $0 @ $1' --check all,-fence")
      for name, numpy, bm, bk in [("fp16", "f16", 128, 64), ("bf16", "bf16", 64, 32), ("fp8e4nv", "e4m3", 128, 64), ("fp32", "f32", 128, 32)]],
    ((matmul, "s8"), [80, 90], 2, [I8, I8, I32, "i32", "i32", "i32"], dict(**MM, ACC=tl.int32, OUT=tl.int32),
     "--grid 2,2 --arg 0=i8[30,70]:randint:-128,127,1 --arg 1=i8[70,20]:randint:-128,127,2 --arg 2=i32[30,20] --arg 3=i32:30 --arg 4=i32:20 --arg 5=i32:70 "
     "--expect '$2 == $0 @ $1'"),
    ((attention, "tensor"), [100], 4, [F16 + ":16", F16 + ":16", F16 + ":16", F32 + ":16", "i32:16", "fp32"], dict(D=32, BM=128, BN=32),
     "--grid 1 --arg 0=f16[128,32]:randn:1 --arg 1=f16[96,32]:randn:2 --arg 2=f16[96,32]:randn:3 --arg 3=f32[128,32] --arg 4=i32:96 "
     "--arg 5=f32:0.25 --expect '$3 ~= (exp(($0 @ $1.T) * 0.25) @ $2) / sum(exp(($0 @ $1.T) * 0.25), axis=1, keepdims=True) within 2e-3' "
     "--check all,-fence"),
    (attention, [80, 90, 100], 2, [F16, F16, F16, F32, "i32", "fp32"], dict(D=16, BM=16, BN=16),
     "--grid 2 --arg 0=f16[32,16]:randn:1 --arg 1=f16[48,16]:randn:2 --arg 2=f16[48,16]:randn:3 --arg 3=f32[32,16] --arg 4=i32:48 --arg 5=f32:0.25 "
     "--expect '$3 ~= (exp(($0 @ $1.T) * 0.25) @ $2) / sum(exp(($0 @ $1.T) * 0.25), axis=1, keepdims=True) within 2e-3'"),
    (random_bits, [80], 1, [I32, "i32"], dict(B=64),
     "--grid 1 --arg 0=i32[64] --arg 1=i32:7 --same 0=philox.npy"),
    (narrow, [80, 90], 1, [F32, F32, "i32"], dict(B=128),
     "--grid 1 --arg 0=@small.npy --arg 1=f32[100] --arg 2=i32:100 --same 1=small_e5m2.npy"),
    (quantise, [80], 1, [F32, I8, "fp32", "i32"], dict(B=128),
     "--grid 1 --arg 0=@small.npy --arg 1=i8[100] --arg 2=f32:0.25 --arg 3=i32:100 --same 1=small_s8.npy"),
    (collatz, [80], 1, [I32], {}, "--grid 19 --arg 0=i32[19] --same 0=collatz.npy"),
    (packed_bytes, [80], 1, ["*u8", "*u8", "*u8"], dict(B=256),
     "--grid 1 --arg 0=@bytes_x.npy --arg 1=@bytes_y.npy --arg 2=u8[256] --same 2=bytes_distance.npy"),
    (cross_entropy, [90], 1, [F32, I32, F32, "i32"], dict(B=64),
     "--grid 3 --arg 0=@logits.npy --arg 1=@labels.npy --arg 2=f32[3] --arg 3=i32:50 --near 2=loss.npy"),
    (column_means, [80], 2, [F32, F32, "i32", "i32"], dict(BR=16, BC=16),
     "--grid 3 --arg 0=f32[50,40]:rand:1 --arg 1=f32[40] --arg 2=i32:50 --arg 3=i32:40 --expect '$1 ~= mean($0, axis=0)'"),
    (persistent_scale, [90, 100], 1, [I32, I32, "i32"], dict(B=32),
     "--grid 3 --arg 0=i32[8,32]:arange --arg 1=i32[8,32] --arg 2=i32:8 --expect '$1[5] == $0[5] * 2 + 5' --expect '$1[7] == $0[7] * 2 + 7'"),
]
