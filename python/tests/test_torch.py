# SPDX-License-Identifier: Apache-2.0
"""PyTorch's tensors on a real GPU: streams, graphs, what a launch costs. Skipped without one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from kernels_for_tests import add, racy

import warpwright as ww
from warpwright.testing import assert_matches

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")

N = 1 << 20


@pytest.fixture
def tensors():
    torch.manual_seed(0)
    a, b = (torch.randn(N, device="cuda") for _ in range(2))
    return a, b, torch.zeros(N, device="cuda")


def test_results_are_on_the_gpu(tensors):
    a, b, c = tensors
    assert add(a, b, out=c) is c
    assert torch.equal(c, a + b)


def test_calls_run_on_the_current_stream(tensors):
    a, b, c = tensors
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(100):
            add(a, b, c)
            add(c, b, c)
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.equal(c, a + b + b)


def test_calls_are_captured_in_graphs(tensors):
    a, b, c = tensors
    add(a, b, c)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        add(a, b, c)
        add(c, c, c)
    a.fill_(3)
    b.fill_(4)
    graph.replay()
    torch.cuda.synchronize()
    assert (c == 14).all()


def test_a_product_is_right():
    gemm = ww.compile(ROOT / "examples" / "gemm_mma.py", "build(M=1024, N=1024, K=1024)")
    a, b = (torch.randn(1024, 1024, device="cuda", dtype=torch.float16) for _ in range(2))
    d = torch.zeros_like(a)
    gemm(a, b, d)
    assert torch.allclose(d.float(), a.float() @ b.float(), rtol=1e-2, atol=0.2)


def test_misfits_are_refused(tensors):
    a, b, c = tensors
    for wrong in (c.cpu(), c.double(), c[::2], c[:-1], c.view(-1, 2)):
        with pytest.raises(ww.ArgumentError, match="`"):
            add(a, b, wrong)


def test_all_engines_agree():
    assert_matches(add, lambda a, b: a + b, [{"n": 1}, {"n": 1000}], engines=["eval", "sim", "cuda"])


def test_debugging_leaves_the_arguments_alone():
    a = torch.arange(64, device="cuda", dtype=torch.int32)
    b = torch.zeros_like(a)
    report = ww.debug(racy, a, out=b)
    assert report.findings[0].check == "race"
    assert not b.any()


TRAP = """
import torch, warpwright as ww
from kernels_for_tests import NAME
a, b = (torch.zeros(64, device="cuda") for _ in range(2))
try:
    NAME(a, b, debug=True)
except ww.TrapError as error:
    print(error)
try:
    NAME(a, b)
except ww.TrapError as error:
    print(str(error).splitlines()[0])
"""


@pytest.mark.parametrize(
    ("name", "status", "found"),
    [
        # What lies four GiB away decides: nothing, or the window of another address space.
        ("wild", "CUDA_ERROR_(ILLEGAL_ADDRESS|INVALID_ADDRESS_SPACE)", "bounds: "),
        ("asserting", "CUDA_ERROR_ASSERT", "assertion `too many` failed"),
    ],
)
def test_a_trap_is_explained(name, status, found):
    package, tests = Path(ww.__file__).resolve().parents[1], Path(__file__).parent
    env = {**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{tests}"}
    code = TRAP.replace("NAME", name)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    printed = done.stdout.splitlines()
    assert printed, done.stderr
    failed = re.match(rf"running (`{name}` failed: {status}\b)", printed[0])
    assert failed, printed[0]
    assert printed[1].startswith("the virtual GPU, with the same arguments: ")
    assert found in printed[1]
    assert printed[-1].startswith(f"launching {failed[1]}")


def cost(call) -> float:
    """Microseconds of the host for a call: the best of some rounds."""
    best = float("inf")
    for _ in range(10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(500):
            call()
        best = min(best, (time.perf_counter() - begin) / 500)
    torch.cuda.synchronize()
    return best * 1e6


def test_what_a_launch_costs(capsys):
    a, b, c = (torch.zeros(1024, device="cuda") for _ in range(3))
    add(a, b, c)
    ours, bound = cost(lambda: add(a, b, c)), cost(add.bind(a, b, c))
    torchs = cost(lambda: torch.add(a, b, out=c))
    with capsys.disabled():
        print(f"\ncall {ours:.2f} us, bound {bound:.2f} us, torch.add {torchs:.2f} us")
    assert bound < ours
