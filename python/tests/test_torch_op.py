# SPDX-License-Identifier: Apache-2.0
"""Kernels as operators of PyTorch: on the virtual GPU, and on a GPU where there is one."""

from __future__ import annotations

import subprocess
import sys

import pytest
from kernels_for_tests import SCALE, add

import warpwright as ww
from warpwright.lang import T

torch = pytest.importorskip("torch")

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no GPU"))]  # fmt: skip


@ww.kernel
def axpy(
    X: ww.Tensor["n"], Y: ww.Tensor["n"], OUT: ww.Tensor["n"], a: T.float32, BLOCK: T.constexpr
):
    T.device_entry()
    b = T.cta_id([(X.shape[0] + BLOCK - 1) // BLOCK])
    t = T.thread_id([BLOCK])
    i = b * BLOCK + t
    if i < X.shape[0]:
        OUT[i] = T.cast(a * T.cast(X[i], "float32") + T.cast(Y[i], "float32"), OUT.dtype)


@ww.kernel
def reverse(A: ww.Tensor["N"], B: ww.Tensor["N"], N: T.constexpr):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([N])
    B[t] = A[N - 1 - t]


@pytest.fixture(params=DEVICES)
def tensors(request):
    torch.manual_seed(0)
    return tuple(torch.randn(100, device=request.param) for _ in range(2))


def compiled(function):
    """Without a break of the graph; the backend traces and differentiates, and generates no code."""
    return torch.compile(function, fullgraph=True, backend="aot_eager")


def test_the_schema_follows_from_the_kernel():
    op = ww.torch_op("ww_test::scale", ww.compile("scale.py", text=SCALE))
    assert str(op._opoverload._schema) == (
        "ww_test::scale(Tensor X, Tensor(a1!) Y, SymInt by) -> ()"
    )
    x = torch.arange(8, dtype=torch.int32).reshape(2, 4)
    y = torch.zeros_like(x)
    assert torch.ops.ww_test.scale(x, y, 3) is None
    assert torch.equal(y, 3 * x)


def test_an_operator_that_writes_is_a_part_of_a_graph(tensors):
    op = ww.torch_op("ww_test::add", add)

    def function(a, b):
        c = torch.empty_like(a)
        op(a * 2, b, c)
        return c + 1

    a, b = tensors
    assert torch.equal(compiled(function)(a, b), function(a, b))
    assert torch.equal(function(a, b), a * 2 + b + 1)
    assert torch.equal(compiled(function)(a[:50], b[:50]), function(a[:50], b[:50]))
    torch.library.opcheck(op, (a, b, torch.empty_like(a)))


def test_an_operator_that_returns_takes_a_formula_for_gradients(tensors):
    op = ww.torch_op("ww_test::sum", add, outputs=lambda a, b: torch.empty_like(a))
    op.register_autograd(lambda context, grad: (grad, grad))
    assert str(op._opoverload._schema) == "ww_test::sum(Tensor A, Tensor B) -> Tensor"
    a, b = (each.requires_grad_() for each in tensors)
    compiled(lambda a, b: (op(a, b) * a).sum())(a, b).backward()
    assert torch.allclose(a.grad, 2 * a + b) and torch.allclose(b.grad, a)
    torch.library.opcheck(op, (a.detach(), b.detach()))


def test_calls_choose_types_and_constants(tensors):
    op = ww.torch_op("ww_test::axpy", axpy, mutates_args=("OUT",), BLOCK=64)
    assert str(op._opoverload._schema) == (
        "ww_test::axpy(Tensor X, Tensor Y, Tensor(a2!) OUT, float a) -> ()"
    )
    x, y = tensors
    for dtype in (torch.float32, torch.float16):
        out = torch.empty(100, dtype=dtype, device=x.device)
        compiled(lambda x, y, out: op(x, y, out, 0.5))(x, y, out)
        assert torch.equal(out, (0.5 * x + y).to(dtype))


def test_calls_of_one_function_are_told_apart(tensors):
    device = tensors[0].device
    for _ in range(3):
        for dtype in (torch.int32, torch.float16, torch.float32):
            for n in (32, 64):
                a = torch.arange(n, device=device).to(dtype)
                b = torch.zeros_like(a)
                reverse(a, out=b)
                assert torch.equal(b, a.flip(0))
        for block in (32, 64):
            out = torch.zeros_like(tensors[0])
            axpy(*tensors, out, 0.5, BLOCK=block)
            assert torch.equal(out, 0.5 * tensors[0] + tensors[1])
    assert len(reverse._made) == 6


def test_it_is_a_decorator_too():
    @ww.torch_op("ww_test::fill")
    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = t

    a = torch.zeros(32, dtype=torch.int32)
    fill(a)
    assert torch.equal(a, torch.arange(32, dtype=torch.int32))


def test_mistakes_are_refused():
    kernel = ww.compile("scale.py", text=SCALE)
    for arguments, named, message in (
        ((3,), {}, "`ww.torch_op` was given int: expected a kernel"),
        ((kernel,), {"BLOCK": 3}, "`scale` is compiled already"),
        ((axpy,), {}, "chooses `X`, `Y`, `OUT`: give the arrays that it writes"),
        ((axpy,), {"mutates_args": ("Z",)}, "the kernel has no parameter `Z`"),
        ((kernel,), {"mutates_args": ("X",)}, "has X: the kernel also writes `Y`"),
    ):
        with pytest.raises(ww.ArgumentError, match=message):
            ww.torch_op("ww_test::wrong", *arguments, **named)
    twice = ww.torch_op("ww_test::twice", add, outputs=lambda a, b: (a.clone(), a.clone()))
    with pytest.raises(ww.ArgumentError, match="gives 2 tensors: the kernel writes 1"):
        twice(torch.zeros(8), torch.zeros(8))
    op = ww.torch_op("ww_test::hidden", axpy, mutates_args=("X",), BLOCK=32)
    x, y, out = (torch.zeros(8) for _ in range(3))
    with pytest.raises(ww.ArgumentError, match="has X: the kernel also writes `OUT`"):
        op(x, y, out, 1.0)


def test_without_torch_it_says_so():
    code = """
import sys
sys.modules["torch"] = None
import warpwright as ww
try:
    ww.torch_op("a::b", 3)
except ww.ArgumentError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "`ww.torch_op` needs PyTorch, which is not installed\n"
