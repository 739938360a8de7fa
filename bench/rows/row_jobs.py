# SPDX-License-Identifier: Apache-2.0
"""The jobs of torch_rows.py: what each is in PyTorch and in Triton, and what it should make.

`compute` is the job in PyTorch, a function of `inputs`; `triton` yields a name and a launch into `out` for
each configuration; `wanted` computes in float64 what `taken` takes of a result.
"""
import math

import torch
import torch.nn.functional as F

try:
    import triton_rows as kernels
    import triton
    TRITON = f"triton {triton.__version__}"
    NO_TRITON = None
except Exception as error:  # also what goes wrong inside it
    kernels = None
    NO_TRITON = f"no triton: {type(error).__name__}: {' '.join(str(error).split())}"
    TRITON = NO_TRITON

EPS = 1e-5
MOST_FP8 = 448.0
LONG = 65536  # elements of a row that a program can just hold


def milliseconds(submit, times=1):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(times):
        submit()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def warps_for(n):
    """Numbers of warps that leave 8 to 64 elements of a row to a thread, or come near."""
    fitting = [warps for warps in (1, 2, 4, 8, 16, 32) if 8 <= n / (32 * warps) <= 64]
    return fitting or [32 if n > 2048 else 1]


class Rows:
    """A job on m rows of n elements, which makes an array like X."""

    def __init__(self, dtype, m, n):
        self.dtype, self.m, self.n = dtype, m, n
        self.x = torch.randn((m, n), device="cuda", dtype=dtype)
        self.lines = torch.tensor(sorted({0, m // 3, m // 2, m - 1}), device="cuda")
        self.inputs = (self.x,)
        self.graphs = {}
        self.made = {}

    def row(self):
        return torch.randn((self.n,), device="cuda", dtype=self.dtype)

    def sample(self):
        return self.x[self.lines].double()

    def taken(self, result):
        """The lines that `wanted` has."""
        return result[self.lines].double()

    def output(self):
        return torch.empty_like(self.x)

    def candidates(self, kernel, arguments, **more):
        """A kernel with a program for each row."""
        for warps in warps_for(self.n):
            yield f"{warps} warps" + "".join(f", {name}={value}" for name, value in more.items()), (
                lambda warps=warps: kernel[(self.m,)](*arguments, N=self.n, num_warps=warps, **more))

    def long_candidates(self, kernel, arguments):
        """The same, where the program goes over its row in blocks."""
        for block, warps in ((4096, 8), (8192, 16), (16384, 32)):
            yield f"blocks of {block}, {warps} warps", (
                lambda block=block, warps=warps: kernel[(self.m,)](
                    *arguments, N=self.n, BLOCK=block, num_warps=warps))

    def rivals(self):
        return {"triton": self.ready_triton, "torch": self.ready_torch, "compiled": self.ready_compiled}

    def ready_torch(self):
        return lambda: self.compute(*self.inputs), "eager"

    def ready_compiled(self):
        torch.compiler.reset()
        compiled = torch.compile(self.compute, dynamic=False)
        return lambda: compiled(*self.inputs), "torch.compile"

    def ready_triton(self):
        """The fastest of the configurations that compile."""
        if kernels is None:
            raise RuntimeError(NO_TRITON)
        out = self.output()
        best, problem = None, None
        for name, launch in self.triton(out):
            try:
                launch()
                time = milliseconds(launch, 10)
            except Exception as error:
                problem = error
                continue
            if best is None or time < best[0]:
                best = time, name, launch
        if best is None:
            raise problem or RuntimeError("no configuration fits")

        def run():
            best[2]()
            return out
        return run, best[1]

    def check(self, result):
        """A wrong kernel does not compete. Rounding to 16 bits in between is right."""
        got, want = self.taken(result), self.wanted()
        share = 1e-4 if self.dtype == torch.float32 else 0.03
        if got.shape != want.shape:
            raise RuntimeError(f"its result has shape {tuple(got.shape)}")
        off = (got - want).abs()
        size = want.square().mean(-1, keepdim=True).sqrt()
        if not bool((off <= share * (want.abs() + size)).all()):
            raise RuntimeError(f"its result is wrong by up to {off.max().item():.3g}")


class Softmax(Rows):
    @staticmethod
    def compute(x):
        return torch.softmax(x, 1)

    def triton(self, out):
        if self.n <= LONG:
            yield from self.candidates(kernels.softmax_rows, (self.x, out))
        if self.n >= LONG:
            yield from self.long_candidates(kernels.softmax_long_rows, (self.x, out))

    def wanted(self):
        return torch.softmax(self.sample(), 1)


class LayerNorm(Rows):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.w, self.b = self.row(), self.row()
        self.inputs = (self.x, self.w, self.b)

    @staticmethod
    def compute(x, w, b):
        return F.layer_norm(x, w.shape, w, b, EPS)

    def triton(self, out):
        arguments = (self.x, self.w, self.b, out, EPS)
        for early in (False, True) if self.n <= LONG else ():
            yield from self.candidates(kernels.layer_norm_rows, arguments, EARLY=early)
        if self.n >= LONG:
            yield from self.long_candidates(kernels.layer_norm_long_rows, arguments)

    def wanted(self):
        return self.compute(self.sample(), self.w.double(), self.b.double())


class RmsNorm(Rows):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.w = self.row()
        self.inputs = (self.x, self.w)

    @staticmethod
    def compute(x, w):
        return F.rms_norm(x, w.shape, w, EPS)

    def triton(self, out):
        arguments = (self.x, self.w, out, EPS)
        for early in (False, True) if self.n <= LONG else ():
            yield from self.candidates(kernels.rms_norm_rows, arguments, EARLY=early)
        if self.n >= LONG:
            yield from self.long_candidates(kernels.rms_norm_long_rows, arguments)

    def wanted(self):
        x = self.sample()
        return x / (x.square().mean(1, keepdim=True) + EPS).sqrt() * self.w.double()


class BiasGelu(Rows):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.b = self.row()
        self.inputs = (self.x, self.b)

    @staticmethod
    def compute(x, b):
        return F.gelu(x + b)

    def triton(self, out):
        for block, warps in ((512, 2), (1024, 2), (1024, 4), (2048, 4), (2048, 8), (4096, 8)):
            if self.n % block == 0:
                yield f"block {block}, {warps} warps", (
                    lambda block=block, warps=warps: kernels.bias_gelu_blocks[(self.m * self.n // block,)](
                        self.x, self.b, out, N=self.n, BLOCK=block, num_warps=warps))

    def wanted(self):
        return self.compute(self.sample(), self.b.double())


class CrossEntropy(Rows):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.label = torch.randint(0, self.n, (self.m,), device="cuda")
        self.inputs = (self.x, self.label)

    @staticmethod
    def compute(x, label):
        return F.cross_entropy(x, label, reduction="none")

    def output(self):
        return torch.empty((self.m,), device="cuda", dtype=torch.float32)

    def triton(self, out):
        return self.candidates(kernels.cross_entropy_rows, (self.x, self.label, out))

    def wanted(self):
        return self.compute(self.sample(), self.label[self.lines])


class RowSum(Rows):
    @staticmethod
    def compute(x):
        return x.sum(1, dtype=torch.float32)

    def output(self):
        return torch.empty((self.m,), device="cuda", dtype=torch.float32)

    def triton(self, out):
        return self.candidates(kernels.sum_rows, (self.x, out))

    def wanted(self):
        return self.sample().sum(1)


class ColumnSum(Rows):
    """The kernel in Triton adds to its output, as ours does."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.columns = torch.tensor(sorted({0, 1, self.n // 2, self.n - 1}), device="cuda")

    @staticmethod
    def compute(x):
        return x.sum(0, dtype=torch.float32)

    def output(self):
        self.sum = torch.zeros((self.n,), device="cuda", dtype=torch.float32)
        return self.sum

    def triton(self, out):
        for bm, bn, steps, warps in ((4, 1024, 16, 4), (8, 512, 16, 4), (16, 256, 16, 4), (8, 1024, 16, 8),
                                     (8, 512, 64, 4), (16, 256, 64, 4), (32, 256, 32, 8)):
            if self.n % bn == 0 and self.m % (bm * steps) == 0:
                yield f"{bm}x{bn}, {steps} steps, {warps} warps", (
                    lambda bm=bm, bn=bn, steps=steps, warps=warps: kernels.sum_columns[
                        (self.m // (bm * steps) * (self.n // bn),)](
                            self.x, out, N=self.n, BM=bm, BN=bn, STEPS=steps, num_warps=warps))

    def ready_triton(self):
        run, name = super().ready_triton()
        self.sum.zero_()  # as the check wants it
        return run, name

    def taken(self, result):
        return result[self.columns].double()

    def wanted(self):
        return self.x[:, self.columns].double().sum(0)


class Cumsum(Rows):
    @staticmethod
    def compute(x):
        # Summed in float32, as all others do: 16-bit sums are wrong after a few hundred elements.
        return x.cumsum(1, dtype=torch.float32).to(x.dtype)

    def triton(self, out):
        return self.candidates(kernels.cumsum_rows, (self.x, out))

    def wanted(self):
        return self.sample().cumsum(1)


class QuantizeFp8(Rows):
    @staticmethod
    def compute(x):
        scale = x.abs().amax(1, keepdim=True).float().clamp(min=1e-30) / MOST_FP8
        q = (x.float() / scale).clamp(-MOST_FP8, MOST_FP8).to(torch.float8_e4m3fn)
        return q, scale

    def output(self):
        return (torch.empty((self.m, self.n), device="cuda", dtype=torch.float8_e4m3fn),
                torch.empty((self.m, 1), device="cuda", dtype=torch.float32))

    def triton(self, out):
        return self.candidates(kernels.quantize_rows, (self.x, *out))

    def taken(self, result):
        q, scale = result
        # Fewer functions know 8 bits.
        return torch.stack([q[line].float() for line in self.lines.tolist()]).double() * scale[self.lines].double()

    def wanted(self):
        return self.sample()

    def check(self, result):
        got, want = self.taken(result), self.wanted()
        step = want.abs().amax(1, keepdim=True) / MOST_FP8 * 2.0 ** -9
        if not bool(((got - want).abs() <= 0.07 * want.abs() + step).all()):
            raise RuntimeError(f"its result is wrong by up to {(got - want).abs().max().item():.3g}")


class Rope(Rows):
    def __init__(self, dtype, positions, heads, dim):
        super().__init__(dtype, positions, heads * dim)
        self.heads, self.dim = heads, dim
        self.x = self.x.view(positions, heads, dim)
        angle = torch.rand((positions, 1, dim // 2), device="cuda") * (2 * math.pi)
        self.cos, self.sin = angle.cos(), angle.sin()
        self.inputs = (self.x, self.cos, self.sin)

    @staticmethod
    def compute(x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)

    def triton(self, out):
        for rows in (8, 16, 32, 64):
            for warps in (2, 4, 8):
                if self.m * self.heads % rows == 0 and 4 <= rows * self.dim / 2 / (32 * warps) <= 32:
                    yield f"{rows} vectors, {warps} warps", (
                        lambda rows=rows, warps=warps: kernels.rope_vectors[(self.m * self.heads // rows,)](
                            self.x, self.cos, self.sin, out, HEADS=self.heads, DIM=self.dim, ROWS=rows,
                            num_warps=warps))

    def wanted(self):
        return self.compute(self.sample(), self.cos[self.lines].double(), self.sin[self.lines].double())


class Attention(Rows):
    """Arrays are batch, seq, heads, dim in memory, as ours; PyTorch sees them as batch, heads, seq, dim."""

    def __init__(self, dtype, batch, seq, heads, dim, causal):
        self.dtype, self.seq, self.causal = dtype, seq, bool(causal)
        self.q, self.k, self.v = (torch.randn((batch, seq, heads, dim), device="cuda", dtype=dtype).transpose(1, 2)
                                  for _ in range(3))
        self.lines = torch.tensor(sorted({0, seq // 3, seq - 1}), device="cuda")
        self.graphs = {}
        self.made = {}

    def rivals(self):
        return {"flash": lambda: self.with_backend("FLASH_ATTENTION"),
                "cudnn": lambda: self.with_backend("CUDNN_ATTENTION")}

    def with_backend(self, name):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        def run():
            with sdpa_kernel(getattr(SDPBackend, name)):
                return F.scaled_dot_product_attention(self.q, self.k, self.v, is_causal=self.causal)
        return run, name.lower()

    def taken(self, result):
        return result[-1, -1, self.lines].double()

    def wanted(self):
        q, k, v = (each[-1, -1].double() for each in (self.q, self.k, self.v))
        scores = q[self.lines] @ k.T / math.sqrt(q.shape[1])
        if self.causal:
            later = torch.arange(self.seq, device="cuda")[None, :] > self.lines[:, None]
            scores = scores.masked_fill(later, -math.inf)
        return torch.softmax(scores, 1) @ v


JOBS = {"softmax": Softmax, "layer_norm": LayerNorm, "rms_norm": RmsNorm, "bias_gelu": BiasGelu,
        "cross_entropy": CrossEntropy, "row_sum": RowSum, "column_sum": ColumnSum, "cumsum": Cumsum,
        "quantize_fp8": QuantizeFp8, "rope": Rope, "flash_attention": Attention}
