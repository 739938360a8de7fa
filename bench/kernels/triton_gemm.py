# SPDX-License-Identifier: Apache-2.0
"""A matrix product in Triton, as a rival in `warpwright bench kernels`.

It answers a line for each line that it reads, `ok ...` or `no REASON`:

    hello                                          versions of what is used
    prepare M N K BATCH DTYPE OUT TRANS_A TRANS_B  operands, the best configuration, its name
    run N                                          milliseconds of N launches in a row

TRANS_A: A is stored as K x M. TRANS_B: B is stored as N x K. Ends where its input does.
"""
import os
import sys

# Answers only: what libraries print is no answer.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def reply(text):
    print(text, file=ANSWERS, flush=True)


try:
    import torch
    import triton
    import triton.language as tl
except Exception as error:  # also what goes wrong inside them
    sys.stdin.readline()
    reply(f"no {type(error).__name__}: {error}".splitlines()[0])
    sys.exit(0)

# BM, BN, BK, warps, stages
SHAPES = [
    (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (128, 128, 64, 8, 4),
    (128, 128, 64, 4, 4), (128, 64, 64, 4, 4), (64, 128, 64, 4, 4), (64, 64, 64, 4, 5),
    (16, 64, 128, 4, 5), (16, 128, 128, 4, 4),
]
CONFIGS = [triton.Config({"BM": bm, "BN": bn, "BK": bk, "GROUP": 8}, num_warps=warps, num_stages=stages)
           for bm, bn, bk, warps, stages in SHAPES]


def sensible(configs, sizes, **_):
    """Compiling takes seconds: only tiles that fit the size."""
    rows, area = min(sizes["M"], 128), sizes["M"] * sizes["N"]
    fitting = [config for config in configs
               if config.kwargs["BM"] >= min(rows, 64) and (config.kwargs["BM"] <= rows or rows >= 128)
               and (area < 2048 * 2048 or rows < 128 or config.kwargs["BM"] * config.kwargs["BN"] >= 128 * 128)]
    return fitting or configs


@triton.autotune(configs=CONFIGS, key=["M", "N", "K", "am", "bk", "batch"],
                 prune_configs_by={"early_config_prune": sensible})
@triton.jit
def gemm(A, B, D, M, N, K, am, ak, bk, bn, a_batch, b_batch, batch, SUM: tl.constexpr,
         BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    # Programs in bands of GROUP rows of tiles, column by column, so that they share what is in L2.
    tile = tl.program_id(0)
    which = tl.program_id(1).to(tl.int64)
    tiles_m = tl.cdiv(M, BM)
    in_band = GROUP * tl.cdiv(N, BN)
    first = tile // in_band * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + tile % in_band % height
    tile_n = tile % in_band // height

    rows = (tile_m * BM + tl.arange(0, BM)) % M
    cols = (tile_n * BN + tl.arange(0, BN)) % N
    deep = tl.arange(0, BK)
    a = A + which * a_batch + rows[:, None] * am + deep[None, :] * ak
    b = B + which * b_batch + deep[:, None] * bk + cols[None, :] * bn
    total = tl.zeros((BM, BN), dtype=SUM)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        total = tl.dot(tl.load(a, mask=deep[None, :] < left, other=0),
                       tl.load(b, mask=deep[:, None] < left, other=0), total, out_dtype=SUM)
        a += BK * ak
        b += BK * bk

    out_rows = tile_m * BM + tl.arange(0, BM)
    out_cols = tile_n * BN + tl.arange(0, BN)
    d = D + which * M * N + out_rows[:, None] * N + out_cols[None, :]
    tl.store(d, total.to(D.dtype.element_ty), mask=(out_rows[:, None] < M) & (out_cols[None, :] < N))


def matrix(shape, transposed, dtype):
    """Random numbers, with the last two dimensions stored the other way round if `transposed`."""
    if transposed:
        return matrix((shape[0], shape[2], shape[1]), False, dtype).transpose(1, 2)
    if dtype.is_floating_point:
        return torch.randn(shape, device="cuda").to(dtype)
    return torch.randint(-128, 128, shape, device="cuda", dtype=dtype)


class Product:
    """Operands, and a graph of launches for each number of them that was asked for."""

    def __init__(self, m, n, k, batch, dtype, out, trans_a, trans_b):
        self.a = matrix((batch, m, k), trans_a, dtype)
        self.b = matrix((batch, k, n), trans_b, dtype)
        self.d = torch.empty((batch, m, n), device="cuda", dtype=out)
        self.sizes = (m, n, k)
        self.sum = tl.float32 if dtype.is_floating_point else tl.int32
        self.graphs = {}

    def launch(self):
        (m, n, k), a, b = self.sizes, self.a, self.b
        batch = a.shape[0]

        def grid(meta):
            return triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]), batch

        gemm[grid](a, b, self.d, m, n, k, a.stride(1), a.stride(2), b.stride(1), b.stride(2),
                   a.stride(0), b.stride(0), batch, SUM=self.sum)

    def graph(self, times):
        if times not in self.graphs:
            made = torch.cuda.CUDAGraph()
            with torch.cuda.graph(made):
                for _ in range(times):
                    self.launch()
            self.graphs[times] = made
        return self.graphs[times]

    def check(self):
        """A wrong kernel is no rival."""
        for row in (0, self.sizes[0] - 1):
            want = self.a[0, row].double() @ self.b[0].double()
            if not torch.allclose(self.d[0, row].double(), want, rtol=2e-2, atol=1e-3 * self.sizes[2] ** 0.5 + 0.5):
                raise RuntimeError(f"row {row} of its result is wrong")

    def milliseconds(self, times):
        graph = self.graph(times)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)


def prepare(words):
    m, n, k, batch = map(int, words[:4])
    dtype, out = getattr(torch, words[4]), getattr(torch, words[5])
    product = Product(m, n, k, batch, dtype, out, words[6] == "1", words[7] == "1")
    product.launch()  # tries all configurations
    torch.cuda.synchronize()
    product.check()
    return product, str(gemm.best_config).replace("\n", " ")


def main():
    product = None
    for line in sys.stdin:
        command, *words = line.split()
        try:
            if command == "hello":
                torch.zeros(1, device="cuda")
                answer = f"torch {torch.__version__}, triton {triton.__version__}"
            elif command == "prepare":
                product = None
                torch.cuda.empty_cache()
                product, answer = prepare(words)
            elif command == "run":
                answer = repr(product.milliseconds(int(words[0])))
            else:
                raise ValueError(f"unknown command {command}")
            reply(f"ok {answer}")
        except Exception as error:
            reason = " ".join(str(error).split())
            reply(f"no {type(error).__name__}: {reason}"[:400])


if __name__ == "__main__":
    main()
