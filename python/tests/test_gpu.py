# SPDX-License-Identifier: Apache-2.0
"""Calls on a GPU, against a driver that takes every launch and prints it: no GPU is needed.

test_torch.py has the same with PyTorch on a real one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import ROOT

import warpwright as ww

OWN = """
#include <stdio.h>
#include <string.h>
struct config { unsigned grid[3], block[3], shared; void* stream; void* attributes; unsigned count; };
int cuDriverGetVersion(int* v) { *v = 13000; return 0; }
int cuGetErrorName(int e, const char** n) { *n = "CUDA_ERROR_FAKE"; return 0; }
int cuGetErrorString(int e, const char** n) { return 1; }
int cuDeviceGetCount(int* c) { *c = 2; return 0; }
int cuDeviceGet(int* d, int n) { *d = n; return 0; }
int cuDeviceGetName(char* n, int b, int d) { strcpy(n, "Fake GPU"); return 0; }
int cuDeviceGetAttribute(int* v, int a, int d) { *v = a == 75 ? 8 + d : 0; return 0; }
int cuDevicePrimaryCtxRetain(void** c, int d) { *c = (void*)(0x100L + d); return 0; }
int cuModuleLoadDataEx(void** m, const void* i, unsigned c, int* o, void** v) {
  printf("load %s\\n", strstr((const char*)i, "sm_90a") ? "sm_90a" : "sm_80");
  *m = (void*)1;
  return 0;
}
int cuModuleGetFunction(void** f, void* m, const char* n) { *f = (void*)2; return 0; }
int cuFuncGetAttribute(int* v, int a, void* f) { *v = 0; return 0; }
int cuLaunchKernelEx(const struct config* c, void* f, void** a, void** e) {
  printf("launch grid %u stream %p at %lx %lx\\n", c->grid[0], c->stream, *(long*)a[0], *(long*)a[1]);
  fflush(stdout);
  return *(long*)a[0] == 0xbad000 ? 700 : 0;
}
"""

PRELUDE = """
import sys, types
import warpwright as ww
from kernels_for_tests import add

torch = types.ModuleType("torch")
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda number: 0x50 + number)
sys.modules["torch"] = torch

class Dtype:
    def __init__(self, name): self.name = name
    def __str__(self): return "torch." + self.name
FLOAT32, COMPLEX = Dtype("float32"), Dtype("complex64")

class Tensor:
    is_cuda = True
    def __init__(self, address, n=300, number=1, dtype=FLOAT32, step=1):
        self.address, self.number, self.dtype, self.step = address, number, dtype, step
        self.shape, self.device = (n,), f"cuda:{number}"
    def data_ptr(self): return self.address
    def get_device(self): return self.number
    def is_contiguous(self): return self.step == 1
    def element_size(self): return 4
    def stride(self): return (self.step,)

def refused(*args):
    try:
        add(*args)
    except ww.Error as error:
        print(type(error).__name__, str(error).splitlines()[0])
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler, to make a driver of")
    folder = tmp_path_factory.mktemp("driver")
    table = (ROOT / "src" / "runtime" / "cuda_calls.def").read_text()
    symbols = re.findall(r"^WW_CUDA_CALL\(\w+,\s*(\w+)", table, re.MULTILINE)
    stubs = [f"int {name}(void) {{ return 0; }}\n" for name in symbols if f"{name}(" not in OWN]
    (folder / "driver.c").write_text(OWN + "".join(stubs))
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", folder / "libcuda.so.1", folder / "driver.c"],
        check=True,
    )
    return folder


def run(driver: Path, code: str) -> list[str]:
    tests, package = Path(__file__).parent, Path(ww.__file__).resolve().parents[1]
    env = {
        **os.environ,
        "LD_LIBRARY_PATH": str(driver),
        "PYTHONPATH": f"{package}{os.pathsep}{tests}",
    }
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(code)],
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_tensors_are_launched_on_their_gpu_and_stream(driver):
    printed = run(
        driver,
        """
        add(Tensor(0x1000), Tensor(0x2000), Tensor(0x3000))
        add(Tensor(0x4000, 128), Tensor(0x5000, 128), out=Tensor(0x6000, 128))
        add(Tensor(0x1000, number=0), Tensor(0x2000, number=0), Tensor(0x3000, number=0))
        """,
    )
    assert printed == [
        "load sm_90a",
        "launch grid 3 stream 0x51 at 1000 2000",
        "launch grid 1 stream 0x51 at 4000 5000",
        "load sm_80",
        "launch grid 3 stream 0x50 at 1000 2000",
    ]


def test_a_bound_call_repeats_a_launch(driver):
    printed = run(
        driver,
        """
        bound = add.bind(Tensor(0x1000), Tensor(0x2000), out=Tensor(0x3000))
        bound()
        bound()
        """,
    )
    assert printed == ["load sm_90a"] + ["launch grid 3 stream 0x51 at 1000 2000"] * 2


def test_what_does_not_fit_is_refused_by_name(driver):
    printed = run(
        driver,
        """
        import numpy as np
        a, b, c = Tensor(0x1000), Tensor(0x2000), Tensor(0x3000)
        refused(a, b, Tensor(0x3000, number=0))
        refused(a, b, Tensor(0x3000, dtype=COMPLEX))
        refused(a, b, Tensor(0x3000, step=2))
        refused(a, b, Tensor(0x3000, 299))
        refused(a, b, Tensor(0x3001))
        refused(a, b, np.zeros(300, np.float32))
        refused(a, b, 1)
        refused(Tensor(0xBAD000), b, c)
        refused(Tensor(0x1000, number=7), Tensor(0x2000, number=7), Tensor(0x3000, number=7))
        try: add(a, b, c, check=True)
        except ww.ArgumentError as error: print(error)
        try: add.bind(1, 2, 3)
        except ww.ArgumentError as error: print(error)
        try: add.check(a, b, c)
        except ww.ArgumentError as error: print(error)
        """,
    )
    assert [line for line in printed if not line.startswith("load")] == [
        "ArgumentError `C` is on cuda:0: expected cuda:1",
        "ArgumentError `C` was given a tensor of complex64: kernels have no such elements",
        "ArgumentError `C` was given an array of shape [300] with strides of [8] bytes: "
        "expected C order [BadArgument]",
        "ArgumentError `n` is 300 by another array: `C` has an extent of 299 for it [BadArgument]",
        "DeviceError `C` is given address 0x3001, expected a multiple of 16: the kernel declares it "
        "with `.ptr .align 16` [BadLaunch]",
        "ArgumentError `C` was given ndarray: expected a number or a tensor of the GPU",
        "ArgumentError `C` was given 1: expected an array of float32[n] [BadArgument]",
        "launch grid 3 stream 0x51 at bad000 2000",
        "DeviceError launching `add_1` failed: CUDA_ERROR_FAKE [DeviceError]",
        "DeviceError there is no GPU 7: the driver has 2 [NoDevice]",
        "`check=True` is for the virtual GPU: a GPU checks nothing",
        "`add.bind` was given no CUDA tensor",
        "`A` is in the memory of a GPU: expected memory of the host",
    ]


def test_without_a_driver_the_error_says_so(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("")
    printed = run(tmp_path, "refused(Tensor(0x1000), Tensor(0x2000), Tensor(0x3000))")
    assert printed[0].startswith("DeviceError ") and "libcuda.so.1" in printed[0]
