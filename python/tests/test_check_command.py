# SPDX-License-Identifier: Apache-2.0
"""`python -m warpwright check` and `pytest --warpwright`, as users call them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import warpwright as ww

pytest.importorskip("triton")

HERE = ROOT / "python" / "tests"
PACKAGE = Path(ww.__file__).resolve().parents[1]
PROGRAM = HERE / "cuda_program_for_tests.py"
KERNELS = HERE / "triton_kernels_for_tests.py"
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch")


@pytest.fixture(scope="module", autouse=True)
def triton_environment(tmp_path_factory):
    os.environ["TRITON_CACHE_DIR"] = str(tmp_path_factory.mktemp("triton"))
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"


@pytest.fixture
def command(tmp_path):
    """Runs `python -m warpwright check` in a folder of its own."""

    def run(*words: Any, module: str = "warpwright") -> subprocess.CompletedProcess:
        head = ["check"] if module == "warpwright" else []
        return subprocess.run(
            [sys.executable, "-m", module, *head, *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(PACKAGE)},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


def test_a_function_of_a_file(command):
    done = command(f"{KERNELS}::run_scale")
    assert (done.returncode, done.stdout) == (0, "0 findings in 1 launch\n"), done.stderr
    done = command(f"{KERNELS}::run_two_write_a_row")
    assert done.returncode == 1
    assert re.search(r"triton_kernels_for_tests.py:\d+: race: writes global memory", done.stdout)
    assert "in `y_ptr[0, 0]`, program (1, 0, 0) of `two_write_a_row`; 128 times" in done.stdout


@needs_torch
@pytest.mark.parametrize("fault", ["mask", "race", "empty"])
def test_a_script_that_says_cuda(command, fault):
    done = command(PROGRAM)
    assert (done.returncode, done.stdout) == (0, "sum True\n0 findings in 1 launch\n"), done.stderr
    done = command(PROGRAM, "--", fault)
    assert done.returncode == 1
    check = {"mask": "bounds", "race": "race", "empty": "uninit"}[fault]
    assert f": {check}: " in done.stdout


@needs_torch
def test_torch_dynamo_is_not_imported(command, tmp_path):
    """PyTorch 2.15 imports it for every dispatch mode that does not say otherwise: seven seconds for each check."""
    (tmp_path / "zeros.py").write_text(
        "import sys, torch\ntorch.zeros(3, device='cuda')\nprint('torch._dynamo' in sys.modules)\n"
    )
    assert command("zeros.py").stdout.startswith("False\n")


@pytest.mark.skipif("WW_CHECK_TARGETS" not in os.environ, reason="takes a minute")
def test_what_torch_compile_saves(command):
    torch = pytest.importorskip("torch")
    if not hasattr(torch, "compile"):
        pytest.skip("needs PyTorch 2")
    done = command(HERE / "triton_programs" / "output_code.py")
    assert (done.returncode, done.stdout.split()[:3]) == (0, ["True", "0", "findings"]), done.stderr


@needs_torch
def test_the_interpreter_beside_the_virtual_gpu(command, tmp_path):
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "untyped_storage"):
        pytest.skip("Triton's interpreter needs PyTorch 2")
    assert command(PROGRAM, "--compare").returncode == 0
    (tmp_path / "shares.py").write_text(SHARES)
    done = command("shares.py", "--compare", "--json")
    found = [each for each in json.loads(done.stdout)["findings"] if each["check"] == "compare"]
    # In the interpreter, too, what is written through one tensor is seen through another of its storage.
    assert [each["tensor"] for each in found] == ["z_ptr[0]", "whole_ptr[256]"], done.stdout
    assert {each["message"] for each in found} == {"0 on the virtual GPU, 255 in Triton's interpreter"}
    assert {each["at"]["text"] for each in found} == {"tl.store(z_ptr + i, tl.load(y_ptr + BLOCK - 1 - i))"}


SHARES = """
import torch
import triton
import triton.language as tl

@triton.jit
def read_back(y_ptr, z_ptr, whole_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, i)
    tl.store(z_ptr + i, tl.load(y_ptr + BLOCK - 1 - i))

whole = torch.zeros(512, dtype=torch.int32, device="cuda")
read_back[(1,)](whole[:256], whole[256:], whole, BLOCK=256)
"""


def test_hangs_are_findings_and_slow_kernels_are_not(command):
    done = command(f"{KERNELS}::run_stuck", "--time", "1")
    assert done.returncode == 1
    assert re.search(r"tests.py:\d+: hang: no thread can go on: program \(0, 0, 0\)", done.stdout)
    assert "    while tl.atomic_cas(lock_ptr, 0, 0) == 0:\n" in done.stdout
    done = command(f"{KERNELS}::run_slow", "--time", "1")
    assert done.returncode == 2 and "0 findings" in done.stdout
    assert re.search(r"program \(0, 0, 0\), warps? 0.* (is|are) at \S*tests.py:\d+", done.stderr)
    assert "a larger `--time`, a smaller problem or `--blocks` help" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import triton.profiler as proton\nproton.start('out', hook='triton')\n", "profilers"),
        ("from triton._C.libtriton import nvidia\nnvidia.cublas.CublasLt(None)\n", "calls of cuBLAS"),
    ],
)
def test_what_triton_needs_a_gpu_for_is_named(command, tmp_path, text, words):
    (tmp_path / "asks.py").write_text(text)
    done = command("asks.py")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {words} cannot run without a GPU")
    assert f"asks.py:2: {text.splitlines()[1]}" in done.stderr


@needs_torch
def test_what_needs_a_gpu_is_named(command):
    done = command(PROGRAM, "--", "graph")
    assert done.returncode == 2
    assert done.stderr.startswith("error: CUDA graphs cannot run without a GPU")
    assert "torch.cuda.CUDAGraph()" in done.stderr


def test_json_is_as_its_schema_says(command):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "reference" / "schema" / "check.json").read_text())
    for name in ("unmasked", "asserts", "scale"):
        done = command(f"{KERNELS}::run_{name}", "--json")
        report = json.loads(done.stdout)
        jsonschema.validate(report, schema)
        assert report["status"] == done.returncode == (name != "scale")


def test_sarif_and_baseline(command, tmp_path):
    done = command(
        f"{KERNELS}::run_unmasked", "--sarif", "out.sarif", "--write-baseline", "known.json"
    )
    assert done.returncode == 0
    (run,) = json.loads((tmp_path / "out.sarif").read_text())["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["bounds", "race"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("triton_kernels_for_tests.py")
    assert not list(tmp_path.glob("*.part"))
    assert command(f"{KERNELS}::run_unmasked", "--baseline", "known.json").returncode == 0
    # Lines move, other kernels do not become known.
    (tmp_path / "moved.py").write_text("# a new line\n" + KERNELS.read_text())
    done = command("moved.py::run_unmasked", "--baseline", "known.json")
    assert (done.returncode, done.stdout) == (
        0,
        "0 findings in 1 launch, 2 known by the baseline\n",
    )
    assert command("moved.py::run_two_write_a_row", "--baseline", "known.json").returncode == 1


BAD = {
    "nothing.py": "there is no file `nothing.py`",
    f"{KERNELS}::nothing": "has no function `nothing`",
}


@pytest.mark.parametrize("program", BAD)
def test_bad_input(command, program):
    done = command(program)
    assert done.returncode == 2 and BAD[program] in done.stderr
    assert done.stderr.startswith("error: ")


def test_a_kernel_that_does_not_compile_shows_triton_s_error(command, tmp_path):
    (tmp_path / "bad.py").write_text(
        "import triton, triton.language as tl\n@triton.jit\ndef bad(x):\n    tl.store(x, nothing)\n"
        "class P:\n    dtype, shape = 'float32', (1,)\n    def data_ptr(self): return 16\nbad[(1,)](P())\n"
    )
    done = command("bad.py")
    assert done.returncode == 2
    assert "CompilationError: at 2:" in done.stderr and "NameError" in done.stderr
    assert "cli.py" not in done.stderr and "runpy" not in done.stderr


def test_an_instruction_that_is_not_simulated_is_named_with_its_line(command, tmp_path):
    (tmp_path / "asm.py").write_text(
        "import triton, triton.language as tl\n@triton.jit\ndef odd(x):\n"
        "    y = tl.inline_asm_elementwise('{ .reg .u64 p; stacksave.u64 p; mov.u32 $0, $1; }',"
        " '=r,r', [1], dtype=tl.int32, is_pure=False, pack=1)\n    tl.store(x, y)\n"
        "class P:\n    dtype, shape = 'int32', (1,)\n    def data_ptr(self): return 16\nodd[(1,)](P())\n"
    )
    done = command("asm.py")
    assert done.returncode == 2
    assert re.search(r"asm.py:4: kernel `odd`: .*stacksave", done.stderr), done.stderr


def test_ctrl_c_ends_at_once_and_leaves_no_file(tmp_path):
    words = ["-m", "warpwright", "check", f"{KERNELS}::run_stuck", "--sarif", "out.sarif"]
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begins\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    _, text = process.communicate(timeout=60)
    assert time.monotonic() - begin < 5 and process.returncode == 130 and "Traceback" not in text
    assert list(tmp_path.iterdir()) == []


SUITE = """
import sys
sys.path.insert(0, {folder!r})
import triton_kernels_for_tests as kernels

def test_right(): kernels.run_scale()
def test_racy(): kernels.run_two_write_a_row()
def test_stuck_on_nothing(): assert True
"""


def test_the_plugin_fails_tests_whose_kernels_are_wrong(command, tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE.format(folder=str(HERE)))
    plugin = ["-p", "warpwright.check.pytest_plugin", "-p", "no:cacheprovider"]
    done = command(*plugin, "--warpwright", "test_suite.py", module="pytest")
    assert done.returncode == 1 and "1 failed, 2 passed" in done.stdout, done.stdout
    assert "race: writes global memory that another program writes" in done.stdout
    assert "warpwright: 1 finding in 2 launches" in done.stdout
    command(f"{KERNELS}::run_two_write_a_row", "--write-baseline", "known.json")
    known = ["--warpwright", "--warpwright-baseline", "known.json"]
    done = command(*plugin, *known, "test_suite.py", module="pytest")
    assert done.returncode == 0 and "3 passed" in done.stdout
    done = command(*plugin, "--warpwright", "--warpwright-blocks", "1", "test_suite.py", module="pytest")
    # One program alone races with none, and writes a part of what the first test wants.
    assert "1 failed, 2 passed" in done.stdout and "race" not in done.stdout
    done = command(*plugin, "--warpwright", "--warpwright-blocks", "-1", "test_suite.py", module="pytest")
    assert done.returncode == 4 and "ERROR: `blocks` and `time` are negative" in done.stderr


BLOCK = re.compile(r"^```(python (\w+\.py)|check)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@needs_torch
def test_the_page_shows_what_the_command_prints(command, tmp_path):
    page = (ROOT / "docs" / "guide" / "checking_triton.md").read_text()
    blocks = BLOCK.findall(page)
    for _, name, block in blocks:
        if name:
            (tmp_path / name).write_text(block)
            continue
        shown = ""
        for line in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
            shown += f"$ {line}\n"
            if line.startswith("sed "):
                subprocess.run(line, shell=True, cwd=tmp_path, check=True)
                continue
            done = command(*line.split()[4:])
            shown += done.stdout
            shown += f"[exit {done.returncode}]\n" if done.returncode else ""
        assert shown == block
    assert len(blocks) == 5
