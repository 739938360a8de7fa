# SPDX-License-Identifier: Apache-2.0
"""Right programs, as right.py, that are built as Triton's tutorials 02 and 06 to 09 are: softmax with as many programs as fit,
attention with its gradients in an autograd.Function, functions of libdevice, a list of products, persistent products."""

import pathlib

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton_programs.right import exact, near, normal, row_softmax

HALF = torch.float16


def with_scratch_memory():
    """Descriptors that a kernel makes need memory, which Triton asks the program for."""
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8))


# --- 02: a softmax whose programs take several rows each ----------------------------------------------


@triton.jit
def softmax_of_many_rows(x, out, x_stride, out_stride, rows, cols, B: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, B)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        value = tl.load(x + row * x_stride + at, mask=at < cols, other=-float("inf"))
        power = tl.exp(value - tl.max(value, axis=0))
        tl.store(out + row * out_stride + at, power / tl.sum(power, axis=0), mask=at < cols)


def softmax_with_as_many_programs_as_fit():
    rows, cols, warps = 11, 300, 8
    x = normal(rows, 320)[:, :cols]
    out = torch.empty(rows, cols)
    sizes = dict(B=512, STAGES=4, num_warps=warps)
    active = triton.runtime.driver.active
    device = active.utils.get_device_properties(active.get_current_device())
    kernel = softmax_of_many_rows.warmup(x, out, x.stride(0), out.stride(0), rows, cols, **sizes, grid=(1,))
    kernel._init_handles()
    resident = min(device["max_num_regs"] // (kernel.n_regs * device["warpSize"] * warps),
                   device["max_shared_mem"] // max(kernel.metadata.shared, 1))
    programs = min(device["multiprocessor_count"] * resident, rows // 3)
    softmax_of_many_rows[(programs, 1, 1)](x, out, x.stride(0), out.stride(0), rows, cols, **sizes)
    near(out, row_softmax(exact(x)))


# --- 06: attention ------------------------------------------------------------------------------------


@triton.jit
def tiles_of(tensor, shape, strides, block: tl.constexpr):
    if isinstance(tensor, tl.tensor_descriptor):
        return tensor
    else:
        return tl.make_tensor_descriptor(tensor, shape, strides, block)


@triton.jit
def attend(acc, total, top, q, k_tiles, v_tiles, base, first, last, rm, scale, BN: tl.constexpr, MASKED: tl.constexpr,
           SPECIALIZED: tl.constexpr):
    rn = tl.arange(0, BN)
    for n in tl.range(first, last, BN, warp_specialize=SPECIALIZED):
        n = tl.multiple_of(n, BN)
        score = tl.dot(q, k_tiles.load([base + n, 0]).T) * scale
        if MASKED:
            score += tl.where(rm[:, None] >= n + rn[None, :], 0, -1.0e6)
        new_top = tl.maximum(top, tl.max(score, 1))
        p = tl.math.exp2(score - new_top[:, None])
        faded = tl.math.exp2(top - new_top)
        total = total * faded + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), v_tiles.load([base + n, 0]), acc * faded[:, None])
        top = new_top
    return acc, total, top


def attention_hook(arguments):
    """Descriptors of the host get the extents of the chosen configuration."""
    if isinstance(arguments["q"], torch.Tensor):
        return
    for name, extent in (("q", "BM"), ("k", "BN"), ("v", "BN"), ("out", "BM")):
        arguments[name].block_shape = [arguments[extent], arguments["D"]]


def fitting_configs(configs, arguments, **more):
    return [each for each in configs if each.kwargs["BM"] <= arguments["seq"]]


@triton.autotune([triton.Config(dict(BM=bm, BN=32), num_warps=4, num_stages=stages, pre_hook=attention_hook)
                  for bm, stages in ((1024, 2), (128, 2), (64, 3))],
                 key=["seq", "D"], prune_configs_by={"early_config_prune": fitting_configs})
@triton.jit
def attention_of_tiles(q, k, v, out, lse, heads, seq, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                       STAGE: tl.constexpr, SPECIALIZED: tl.constexpr):
    tl.static_assert(BM % BN == 0)
    start = tl.program_id(0) * BM
    base = tl.program_id(1) * seq
    q_tiles = tiles_of(q, [heads * seq, D], [D, 1], [BM, D])
    k_tiles = tiles_of(k, [heads * seq, D], [D, 1], [BN, D])
    v_tiles = tiles_of(v, [heads * seq, D], [D, 1], [BN, D])
    out_tiles = tiles_of(out, [heads * seq, D], [D, 1], [BM, D])
    rm = start + tl.arange(0, BM)
    top = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    q_tile = q_tiles.load([base + start, 0])
    log2_scale = scale * 1.44269504
    if STAGE & 1:  # what needs no mask
        end = start if STAGE == 3 else seq
        acc, total, top = attend(acc, total, top, q_tile, k_tiles, v_tiles, base, 0, end, rm, log2_scale, BN, False, SPECIALIZED)
    if STAGE & 2:  # the diagonal
        acc, total, top = attend(acc, total, top, q_tile, k_tiles, v_tiles, base, start, start + BM, rm, log2_scale, BN, True,
                                 SPECIALIZED)
    tl.store(lse + base + rm, top + tl.math.log2(total))
    out_tiles.store([base + start, 0], (acc / total[:, None]).to(tl.float16))


@triton.jit
def gradient_sums(out, grad, sums, D: tl.constexpr, BM: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    at = rm[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(sums + rm, tl.sum(tl.load(out + at).to(tl.float32) * tl.load(grad + at).to(tl.float32), axis=1))


@triton.jit
def gradients_of_keys(dk, dv, q, k, v, grad, lse, sums, scale, start, first, steps, rd, D: tl.constexpr, BM: tl.constexpr,
                      BN: tl.constexpr, MASKED: tl.constexpr):
    rn = start + tl.arange(0, BN)
    rm = first + tl.arange(0, BM)
    q_at = q + rm[None, :] * D + rd[:, None]
    grad_at = grad + rm[:, None] * D + rd[None, :]
    for _ in range(steps):
        q_turned = tl.load(q_at)
        p = tl.math.exp2(tl.dot(k, q_turned) - tl.load(lse + rm)[None, :])
        if MASKED:
            p = tl.where(rm[None, :] >= rn[:, None], p, 0.0)
        grad_tile = tl.load(grad_at)
        dv += tl.dot(p.to(tl.float16), grad_tile)
        dp = tl.dot(v, tl.trans(grad_tile)).to(tl.float32)
        ds = p * (dp - tl.load(sums + rm)[None, :])
        dk += tl.dot(ds.to(tl.float16), tl.trans(q_turned))
        rm += BM
        q_at += BM * D
        grad_at += BM * D
    return dk, dv


@triton.jit
def gradients_of_queries(dq, q, k, v, grad, lse, sums, start, first, steps, rd, D: tl.constexpr, BM: tl.constexpr,
                         BN: tl.constexpr, MASKED: tl.constexpr):
    rm = start + tl.arange(0, BM)
    rn = first + tl.arange(0, BN)
    k_at = k + rn[None, :] * D + rd[:, None]
    v_at = v + rn[None, :] * D + rd[:, None]
    row_sums = tl.load(sums + rm)
    for _ in range(steps):
        k_turned = tl.load(k_at)
        p = tl.math.exp2(tl.dot(q, k_turned) - lse)
        if MASKED:
            p = tl.where(rm[:, None] >= rn[None, :], p, 0.0)
        dp = tl.dot(grad, tl.load(v_at)).to(tl.float32)
        ds = p * (dp - row_sums[:, None])
        dq += tl.dot(ds.to(tl.float16), tl.trans(k_turned))
        rn += BN
        k_at += BN * D
        v_at += BN * D
    return dq


@triton.jit
def attention_gradients(q, k, v, scale, grad, dq, dk, dv, lse, sums, seq, D: tl.constexpr, SMALL: tl.constexpr,
                        LARGE: tl.constexpr, CAUSAL: tl.constexpr):
    base = (tl.program_id(1) * seq).to(tl.int64)
    q += base * D
    k += base * D
    v += base * D
    grad += base * D
    lse += base
    sums += base
    start = tl.program_id(0) * LARGE
    rd = tl.arange(0, D)
    own = (start + tl.arange(0, LARGE))[:, None] * D + rd[None, :]
    dk_tile = tl.zeros([LARGE, D], tl.float32)
    dv_tile = tl.zeros([LARGE, D], tl.float32)
    k_tile = tl.load(k + own)
    v_tile = tl.load(v + own)
    first = 0
    if CAUSAL:
        first = start + LARGE
        dk_tile, dv_tile = gradients_of_keys(dk_tile, dv_tile, q, k_tile, v_tile, grad, lse, sums, scale, start, start,
                                             LARGE // SMALL, rd, D, SMALL, LARGE, True)
    dk_tile, dv_tile = gradients_of_keys(dk_tile, dv_tile, q, k_tile, v_tile, grad, lse, sums, scale, start, first,
                                         (seq - first) // SMALL, rd, D, SMALL, LARGE, False)
    tl.store(dv + base * D + own, dv_tile)
    tl.store(dk + base * D + own, dk_tile * scale)
    q_tile = tl.load(q + own)
    grad_tile = tl.load(grad + own)
    lse_tile = tl.load(lse + start + tl.arange(0, LARGE))[:, None]
    dq_tile = tl.zeros([LARGE, D], tl.float32)
    end = seq
    if CAUSAL:
        end = start
        dq_tile = gradients_of_queries(dq_tile, q_tile, k, v, grad_tile, lse_tile, sums, start, start, LARGE // SMALL, rd, D,
                                       LARGE, SMALL, True)
    dq_tile = gradients_of_queries(dq_tile, q_tile, k, v, grad_tile, lse_tile, sums, start, 0, end // SMALL, rd, D, LARGE, SMALL,
                                   False)
    tl.store(dq + base * D + own, dq_tile * 0.69314718)


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal, scale, wrapped, specialized):
        heads, seq, d = q.shape
        out, lse = torch.empty_like(q), torch.empty(heads, seq)
        with_scratch_memory()
        rows = [wrapped(each.reshape(heads * seq, d)) for each in (q, k, v, out)]
        attention_of_tiles[lambda meta: (triton.cdiv(seq, meta["BM"]), heads, 1)](
            *rows, lse, heads, seq, scale, D=d, STAGE=3 if causal else 1, SPECIALIZED=specialized)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.settings = causal, scale
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, lse = ctx.saved_tensors
        causal, scale = ctx.settings
        heads, seq, d = q.shape
        grad = grad.contiguous()
        dq, dk, dv, sums = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), torch.empty_like(lse)
        gradient_sums[(heads * seq // 32,)](out, grad, sums, D=d, BM=32)
        # Powers of two need keys with the scale and the logarithm in them.
        attention_gradients[(seq // 64, heads)](q, (k * (scale * 1.44269504)).to(HALF), v, scale, grad, dq, dk, dv, lse, sums,
                                                seq, D=d, SMALL=32, LARGE=64, CAUSAL=causal)
        return dq, dk, dv, None, None, None, None


def attention_as_a_function(causal, wrapped=lambda tensor: tensor, specialized=False):
    heads, seq, d, scale = 2, 128, 32, 0.3
    q, k, v = (normal(heads, seq, d, seed=s, dtype=HALF).requires_grad_() for s in (1, 2, 3))
    grad = normal(heads, seq, d, seed=4, dtype=HALF)
    out = Attention.apply(q, k, v, causal, scale, wrapped, specialized)
    out.backward(grad)
    eq, ek, ev, eg = (exact(each.detach()) for each in (q, k, v, grad))
    s = eq @ ek.transpose(0, 2, 1) * scale
    p = row_softmax(np.where(np.tril(np.ones((seq, seq), bool)), s, -np.inf) if causal else s)
    dp = eg @ ev.transpose(0, 2, 1)
    ds = p * (dp - (eg * (p @ ev)).sum(-1, keepdims=True))
    near(out.detach(), p @ ev, 3e-3)
    near(q.grad, ds @ ek * scale, 1e-2)
    near(k.grad, ds.transpose(0, 2, 1) @ eq * scale, 1e-2)
    near(v.grad, p.transpose(0, 2, 1) @ eg, 1e-2)


def host_tiles(tensor):
    from triton.tools.tensor_descriptor import TensorDescriptor
    return TensorDescriptor(tensor, list(tensor.shape), list(tensor.stride()), [1, 1])


def attention_and_its_gradients():
    attention_as_a_function(False)


def causal_attention_and_its_gradients():
    attention_as_a_function(True)


def attention_with_warps_that_specialize():
    attention_as_a_function(False, specialized=True)


def causal_attention_by_descriptors_of_the_host():
    attention_as_a_function(True, host_tiles)


# --- 07: functions of libdevice -------------------------------------------------------------------------


@triton.jit
def arc_sine(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, libdevice.asin(value) + libdevice.erf(value) * libdevice.pow(tl.abs(value), 1.5), mask=at < n)


def functions_of_libdevice(**options):
    from math import erf
    x = torch.from_numpy(np.random.default_rng(1).uniform(-1, 1, 700).astype("f4"))
    out = torch.empty_like(x)
    arc_sine[lambda meta: (triton.cdiv(700, meta["B"]),)](x, out, 700, B=256, **options)
    e = exact(x)
    near(out, np.arcsin(e) + np.vectorize(erf)(e) * np.abs(e) ** 1.5)


def libdevice_of_triton():
    functions_of_libdevice()


def libdevice_named_by_its_path():
    path = pathlib.Path(triton.__file__).parent / "backends" / "nvidia" / "lib" / "libdevice.10.bc"
    functions_of_libdevice(extern_libs={"libdevice": str(path)})


# --- 08: a list of products in one launch ---------------------------------------------------------------

LIST_CONFIGS = [triton.Config(dict(BM=64, BN=bn, BK=32, PROGRAMS=5), num_stages=stages) for bn, stages in ((32, 2), (64, 3))]


@triton.autotune(configs=LIST_CONFIGS, key=["count"])
@triton.jit
def products_of_a_list(a_at, b_at, c_at, sizes, strides, count, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                       PROGRAMS: tl.constexpr):
    tile = tl.program_id(0)
    before = 0
    for g in range(count):
        M = tl.load(sizes + g * 3)
        N = tl.load(sizes + g * 3 + 1)
        K = tl.load(sizes + g * 3 + 2)
        tiles_n = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * tiles_n
        while tile >= before and tile < before + tiles:
            a_stride = tl.load(strides + g * 3)
            b_stride = tl.load(strides + g * 3 + 1)
            c_stride = tl.load(strides + g * 3 + 2)
            rm = (tile - before) // tiles_n * BM + tl.arange(0, BM)
            rn = (tile - before) % tiles_n * BN + tl.arange(0, BN)
            rk = tl.arange(0, BK)
            a = tl.load(a_at + g).to(tl.pointer_type(tl.float16)) + rm[:, None] * a_stride + rk[None, :]
            b = tl.load(b_at + g).to(tl.pointer_type(tl.float16)) + rk[:, None] * b_stride + rn[None, :]
            acc = tl.zeros((BM, BN), tl.float32)
            for _ in range(0, tl.cdiv(K, BK)):
                tl.multiple_of(a, [16, 16])
                tl.multiple_of(b, [16, 16])
                acc += tl.dot(tl.load(a), tl.load(b))
                a += BK
                b += BK * b_stride
            c = tl.load(c_at + g).to(tl.pointer_type(tl.float16)) + rm[:, None] * c_stride + rn[None, :]
            tl.store(c, acc.to(tl.float16))
            tile += PROGRAMS
        before += tiles


@triton.jit
def products_of_a_list_by_tiles(a_at, b_at, c_at, sizes, strides, count, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                                PROGRAMS: tl.constexpr):
    tile = tl.program_id(0)
    before = 0
    for g in range(count):
        M = tl.load(sizes + g * 3)
        N = tl.load(sizes + g * 3 + 1)
        K = tl.load(sizes + g * 3 + 2)
        tiles_n = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * tiles_n
        if tile >= before and tile < before + tiles:
            # B is kept turned, as N by K.
            a = tl.make_tensor_descriptor(tl.load(a_at + g).to(tl.pointer_type(tl.float16)), shape=[M, K],
                                          strides=[tl.load(strides + g * 3), 1], block_shape=[BM, BK])
            b = tl.make_tensor_descriptor(tl.load(b_at + g).to(tl.pointer_type(tl.float16)), shape=[N, K],
                                          strides=[tl.load(strides + g * 3 + 1), 1], block_shape=[BN, BK])
            c = tl.make_tensor_descriptor(tl.load(c_at + g).to(tl.pointer_type(tl.float16)), shape=[M, N],
                                          strides=[tl.load(strides + g * 3 + 2), 1], block_shape=[BM, BN])
            while tile >= before and tile < before + tiles:
                row = (tile - before) // tiles_n * BM
                column = (tile - before) % tiles_n * BN
                acc = tl.zeros((BM, BN), tl.float32)
                for k in range(0, tl.cdiv(K, BK)):
                    acc += tl.dot(a.load([row, k * BK]), b.load([column, k * BK]).T)
                c.store([row, column], acc.to(tl.float16))
                tile += PROGRAMS
        before += tiles


def list_of_products(launch, is_turned):
    shapes = [(128, 64, 64), (64, 128, 32), (192, 64, 96)]
    a = [normal(m, k, seed=i, dtype=HALF) for i, (m, n, k) in enumerate(shapes)]
    b = [normal(k, n, seed=i + 9, dtype=HALF) for i, (m, n, k) in enumerate(shapes)]
    given = [each.T.contiguous() for each in b] if is_turned else b
    c = [torch.empty(m, n, dtype=HALF) for m, n, k in shapes]
    addresses = [torch.tensor([each.data_ptr() for each in tensors]) for tensors in (a, given, c)]
    strides = [tensors[i].stride(0) for i in range(len(shapes)) for tensors in (a, given, c)]
    numbers = [torch.tensor(each, dtype=torch.int32) for each in ([n for shape in shapes for n in shape], strides)]
    launch(*addresses, *numbers, len(shapes))
    for left, right, product in zip(a, b, c):
        near(product, exact(left) @ exact(right), 2e-3)


def list_of_products_by_pointers():
    list_of_products(products_of_a_list[lambda meta: (meta["PROGRAMS"],)], False)


def list_of_products_by_tiles():
    with_scratch_memory()
    list_of_products(lambda *words: products_of_a_list_by_tiles[(4,)](*words, BM=64, BN=32, BK=32, PROGRAMS=4), True)


# --- 09: persistent products ----------------------------------------------------------------------------


@triton.jit
def place_of(tile, in_group, tiles_m, GROUP: tl.constexpr):
    first = tile // in_group * GROUP
    rows = min(tiles_m - first, GROUP)
    return first + tile % in_group % rows, tile % in_group // rows


def product_name(grid, kernel, arguments):
    M, N, K = (arguments[each] for each in "MNK")
    return {"name": f"{kernel.name} [{M=}, {N=}, {K=}]", "flops16": 2.0 * M * N * K}


@triton.jit(launch_metadata=product_name)
def persistent_product(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                       GROUP: tl.constexpr, PROGRAMS: tl.constexpr):
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    # The tile to store counts on its own, so that no value of the product lives into the next.
    stored = tl.program_id(0) - PROGRAMS
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        m, n = place_of(tile, GROUP * tiles_n, tiles_m, GROUP)
        rm = m * BM + tl.arange(0, BM)
        rn = n * BN + tl.arange(0, BN)
        rm = tl.max_contiguous(tl.multiple_of(tl.where(rm < M, rm, 0), BM), BM)
        rn = tl.max_contiguous(tl.multiple_of(tl.where(rn < N, rn, 0), BN), BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            rk = k * BK + tl.arange(0, BK)
            left = tl.load(a + rm[:, None] * sam + rk[None, :] * sak, mask=rk[None, :] < K, other=0.0)
            right = tl.load(b + rk[:, None] * sbk + rn[None, :] * sbn, mask=rk[:, None] < K, other=0.0)
            acc = tl.dot(left, right, acc)
        stored += PROGRAMS
        m, n = place_of(stored, GROUP * tiles_n, tiles_m, GROUP)
        rm = m * BM + tl.arange(0, BM)
        rn = n * BN + tl.arange(0, BN)
        tl.store(c + rm[:, None] * scm + rn[None, :] * scn, acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def store_in_halves(c, row, column, acc, BM: tl.constexpr, BN: tl.constexpr):
    halves = tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1))
    left, right = tl.split(halves)
    c.store([row, column], left.to(tl.float16))
    c.store([row, column + BN // 2], right.to(tl.float16))


@triton.jit
def persistent_product_of_tiles(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
                                PROGRAMS: tl.constexpr, HALVES: tl.constexpr, FLATTEN: tl.constexpr, SPECIALIZED: tl.constexpr):
    a = tiles_of(a, [M, K], [K, 1], [BM, BK])
    b = tiles_of(b, [N, K], [K, 1], [BN, BK])
    c = tiles_of(c, [M, N], [N, 1], [BM, BN // 2 if HALVES else BN])
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    stored = tl.program_id(0) - PROGRAMS
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=FLATTEN, warp_specialize=SPECIALIZED):
        m, n = place_of(tile, GROUP * tiles_n, tiles_m, GROUP)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(a.load([m * BM, k * BK]), b.load([n * BN, k * BK]).T, acc)
        stored += PROGRAMS
        m, n = place_of(stored, GROUP * tiles_n, tiles_m, GROUP)
        if HALVES:
            store_in_halves(c, m * BM, n * BN, acc, BM, BN)
        else:
            c.store([m * BM, n * BN], acc.to(tl.float16))


def tiles_hook(arguments):
    sizes = [arguments[each] for each in ("BM", "BN", "BK")]
    arguments["a"].block_shape = [sizes[0], sizes[2]]
    arguments["b"].block_shape = [sizes[1], sizes[2]]
    arguments["c"].block_shape = [sizes[0], sizes[1] // 2 if arguments["HALVES"] else sizes[1]]


tuned_product_of_tiles = triton.autotune(
    [triton.Config(dict(BM=128, BN=64, BK=64, GROUP=8, HALVES=halves), num_stages=stages, num_warps=4, pre_hook=tiles_hook)
     for halves, stages in ((True, 2), (False, 3))], key=["M", "N", "K", "SPECIALIZED"])(persistent_product_of_tiles)


def operands(M, N, K):
    return normal(M, K, dtype=HALF), normal(N, K, seed=2, dtype=HALF), torch.empty(M, N, dtype=HALF)


def persistent_product_by_pointers():
    M, N, K = 200, 136, 104
    a, b, c = operands(M, N, K)
    persistent_product[(4,)](a, b.T, c, M, N, K, *a.stride(), *b.T.stride(), *c.stride(), BM=64, BN=32, BK=32, GROUP=2, PROGRAMS=4)
    near(c, exact(a) @ exact(b).T, 2e-3)


def product_of_tiles(**settings):
    M, N, K = 300, 160, 136
    a, b, c = operands(M, N, K)
    with_scratch_memory()
    persistent_product_of_tiles[(4,)](a, b, c, M, N, K, BM=128, BN=64, BK=64, GROUP=2, PROGRAMS=4, num_warps=4, **settings)
    near(c, exact(a) @ exact(b).T, 2e-3)


def persistent_product_by_tiles():
    product_of_tiles(HALVES=False, FLATTEN=True, SPECIALIZED=False)


def persistent_product_stored_in_halves():
    product_of_tiles(HALVES=True, FLATTEN=True, SPECIALIZED=False)


def persistent_product_with_warps_that_specialize():
    product_of_tiles(HALVES=False, FLATTEN=False, SPECIALIZED=True)


def persistent_product_by_descriptors_of_the_host():
    M, N, K = 300, 160, 136
    a, b, c = operands(M, N, K)
    tuned_product_of_tiles[lambda meta: (3,)](*map(host_tiles, (a, b, c)), M, N, K, PROGRAMS=3, FLATTEN=True, SPECIALIZED=False)
    near(c, exact(a) @ exact(b).T, 2e-3)


PROGRAMS = [softmax_with_as_many_programs_as_fit, attention_and_its_gradients, causal_attention_and_its_gradients,
            attention_with_warps_that_specialize, causal_attention_by_descriptors_of_the_host, libdevice_of_triton,
            libdevice_named_by_its_path, list_of_products_by_pointers, list_of_products_by_tiles, persistent_product_by_pointers,
            persistent_product_by_tiles, persistent_product_stored_in_halves, persistent_product_with_warps_that_specialize,
            persistent_product_by_descriptors_of_the_host]

# TensorDescriptor asks a dtype for its size.
NEED_TORCH_2 = [causal_attention_by_descriptors_of_the_host, persistent_product_by_descriptors_of_the_host]
