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
static int lost;
int cuCtxSynchronize(void) { return lost ? 716 : 0; }
int cuLaunchKernelEx(const struct config* c, void* f, void** a, void** e) {
  printf("launch grid %u stream %p at %lx %lx\\n", c->grid[0], c->stream, *(long*)a[0], *(long*)a[1]);
  fflush(stdout);
  lost |= *(long*)a[0] == 0xdead000;
  return *(long*)a[0] == 0xbad000 ? 700 : 0;
}
"""

PRELUDE = """
import sys, types
import numpy as np
import warpwright as ww
from kernels_for_tests import add, asserting, stray

torch = types.ModuleType("torch")
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda number: 0x50 + number)
sys.modules["torch"] = torch

class Dtype:
    def __init__(self, name): self.name = name
    def __str__(self): return "torch." + self.name
FLOAT32, INT32, COMPLEX = Dtype("float32"), Dtype("int32"), Dtype("complex64")

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
    def detach(self): return self
    def cpu(self):
        if self.address == 0xBAD000: raise RuntimeError("CUDA error: misaligned address")
        return np.zeros(self.shape, self.dtype.name)

# The same with DLPack's exchange table, which calls read without running Python; stream 0x60 + number.
import ctypes
from ctypes import POINTER, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p

class DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("kind", c_int32), ("number", c_int32), ("rank", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("offset", c_uint64)]

@ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(DLTensor))
def tensor_from_object(tensor, out):
    if not hasattr(tensor, "kept"):
        tensor.kept = (c_int64 * 1)(*tensor.shape), (c_int64 * 1)(tensor.step)
    code = 2 if tensor.dtype is FLOAT32 else 0 if tensor.dtype is INT32 else 5
    out[0] = DLTensor(tensor.address - 16, 2, tensor.number, 1, code, 32, 1, *tensor.kept, 16)
    return 0

@ctypes.PYFUNCTYPE(c_int, c_int32, c_int32, POINTER(c_void_p))
def current_stream(kind, number, out):
    out[0] = 0x60 + number
    return 0

class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", c_void_p),
                ("unused", c_void_p * 3), ("from_object", c_void_p), ("stream", c_void_p)]

TABLE = Table(1, 3, None, (c_void_p * 3)(), ctypes.cast(tensor_from_object, c_void_p),
              ctypes.cast(current_stream, c_void_p))
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [c_void_p, ctypes.c_char_p, c_void_p]
CAPSULE_NAME = b"dlpack_exchange_api"

class Quick(Tensor):
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(TABLE), CAPSULE_NAME, None)

# Of libraries that have `__dlpack__` alone, or `__cuda_array_interface__` alone.
class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", c_void_p), ("deleter", c_void_p)]

class Packed(Tensor):
    is_cuda = property(lambda self: self.missing)  # PyTorch's alone
    def __dlpack_device__(self): return 2, self.number
    def __dlpack__(self, stream):
        print("ready on stream", stream)
        self.managed = Managed()
        tensor_from_object(self, ctypes.pointer(self.managed.tensor))
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)

class Interface:
    def __init__(self, address, n=300, typestr="<f4", strides=None, stream=None, read_only=False):
        self.__cuda_array_interface__ = {
            "data": (address, read_only), "shape": (n,), "typestr": typestr, "version": 3,
            "strides": strides, "stream": stream}

class Foreign:
    '''Of a library that has the table, and none of PyTorch's attributes.'''
    __dlpack_c_exchange_api__ = Quick.__dlpack_c_exchange_api__
    def __init__(self, address, number=1):
        self.address, self.number, self.shape, self.step, self.dtype = address, number, (300,), 1, FLOAT32

def count_python(cls):
    '''Prints "python" for each call that the extension leaves to Python.'''
    slow = cls._call
    def counted(self, *args, **named):
        print("python")
        return slow(self, *args, **named)
    cls._call = counted

def refused(*args):
    try:
        add(*args)
    except ww.Error as error:
        print(type(error).__name__, str(error).splitlines()[0])
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("driver")
    table = (ROOT / "src" / "runtime" / "cuda_calls.def").read_text()
    symbols = re.findall(r"^WW_CUDA_CALL\(\w+,\s*(\w+)", table, re.MULTILINE)
    stubs = [f"int {name}(void) {{ return 0; }}\n" for name in symbols if f"{name}(" not in OWN]
    make_driver(folder, OWN + "".join(stubs))
    return folder


def make_driver(folder: Path, text: str) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler, to make a driver of")
    (folder / "driver.c").write_text(text)
    library = folder / "libcuda.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "driver.c"], check=True)


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


def test_repeated_calls_run_no_python(driver):
    printed = run(
        driver,
        """
        count_python(ww.KernelFunction)
        a, b, c = Quick(0x1000), Quick(0x2000), Quick(0x3000)
        print(add(a, b, out=c) is c)
        print(add(Quick(0x4000), b, out=c) is c)
        print(add(Quick(0x5000, 128), Quick(0x6000, 128), Quick(0x7000, 128)))
        print(add(B=Quick(0x8000), C=c, A=Quick(0x9000)))
        print(add(a, a, out=a) is a)
        """,
    )
    assert printed == [
        "python",
        "load sm_90a",
        "launch grid 3 stream 0x61 at 1000 2000",
        "True",
        "launch grid 3 stream 0x61 at 4000 2000",
        "True",
        "launch grid 1 stream 0x61 at 5000 6000",
        "None",
        "launch grid 3 stream 0x61 at 9000 8000",
        "None",
        "launch grid 3 stream 0x61 at 1000 1000",
        "True",
    ]


def test_other_calls_are_left_to_python(driver):
    printed = run(
        driver,
        """
        a, b, c = Quick(0x1000), Quick(0x2000), Quick(0x3000)
        add(a, b, c)
        count_python(ww.KernelFunction)
        add(Quick(0x1000, number=0), Quick(0x2000, number=0), Quick(0x3000, number=0))
        add(Quick(0x4000, number=0), Quick(0x2000, number=0), Quick(0x3000, number=0))
        add(Tensor(0x1000), Tensor(0x2000), Tensor(0x3000))
        add(a, b, out=(c,))
        refused(a, b, Quick(0x3000, number=0))
        refused(a, b, Quick(0x3000, dtype=INT32))
        refused(a, b, Quick(0x3000, dtype=COMPLEX))
        refused(a, b, Quick(0x3000, step=2))
        refused(a, b, Quick(0x3000, 299))
        refused(a, b, Quick(0x3001))
        refused(a, b)
        refused(a, b, c, c)
        add(a, b, c)
        """,
    )
    assert printed == [
        "load sm_90a",
        "launch grid 3 stream 0x61 at 1000 2000",
        "python",
        "load sm_80",
        "launch grid 3 stream 0x60 at 1000 2000",
        "launch grid 3 stream 0x60 at 4000 2000",
        "python",
        "launch grid 3 stream 0x51 at 1000 2000",
        "python",
        "launch grid 3 stream 0x61 at 1000 2000",
        "python",
        "ArgumentError `C` is on cuda:0: expected cuda:1",
        "python",
        "ArgumentError `C` was given an array of int32: expected float32 [BadArgument]",
        "python",
        "ArgumentError `C` was given a tensor of complex64: kernels have no such elements",
        "python",
        "ArgumentError `C` was given an array of shape [300] with strides of [8] bytes: "
        "expected C order [BadArgument]",
        "python",
        "ArgumentError `n` is 300 by another array: `C` has an extent of 299 for it [BadArgument]",
        "DeviceError `C` is given address 0x3001, expected a multiple of 16: the kernel declares it "
        "with `.ptr .align 16` [BadLaunch]",
        "python",
        "ArgumentError `add` was given no argument for `C`",
        "python",
        "ArgumentError `add` was given 4 arguments: expected 3",
        "launch grid 3 stream 0x61 at 1000 2000",
    ]


def test_other_libraries_are_read_by_the_table(driver):
    printed = run(
        driver,
        """
        add(Foreign(0x1000), Foreign(0x2000), Quick(0x3000))
        add.bind(Foreign(0x1000), Foreign(0x2000), Foreign(0x3000))()
        refused(Foreign(0x1000), Foreign(0x2000), Foreign(0x3000, 0))
        """,
    )
    assert printed == [
        "load sm_90a",
        "launch grid 3 stream 0x61 at 1000 2000",
        "launch grid 3 stream 0x61 at 1000 2000",
        "ArgumentError `C` is on another GPU: expected cuda:1",
    ]


def test_other_libraries_are_read_by_their_protocols(driver):
    printed = run(
        driver,
        """
        add(Packed(0x1000), Packed(0x2000), Packed(0x3000))
        add.bind(Packed(0x1000), Packed(0x2000), Packed(0x3000))()
        refused(Packed(0x1000), Packed(0x2000), Packed(0x3000, dtype=COMPLEX))
        refused(Packed(0x1000), Packed(0x2000), Packed(0x3000, number=0))
        refused(Packed(0x1000), Packed(0x2000), Quick(0x3000))
        refused(Interface(0x1000), Interface(0x2000), Interface(0x3000))
        """,
    )
    assert [line for line in printed if not line.startswith("ready")] == [
        "load sm_90a",
        "launch grid 3 stream (nil) at 1000 2000",
        "launch grid 3 stream (nil) at 1000 2000",
        "ArgumentError `C` was given a tensor of torch.complex64: kernels have no such elements",
        "ArgumentError `C` is on cuda:0: expected cuda:1",
        "ArgumentError `C` is of another library than the arrays before it: expected one, because "
        "each has streams of its own",
        "ArgumentError an array with `__cuda_array_interface__` alone does not say which of the 2 "
        "GPUs it is on: expected `__dlpack__`, too",
    ]
    assert set(line for line in printed if line.startswith("ready")) == {"ready on stream 1"}


def test_the_cuda_array_interface_names_its_stream(driver, tmp_path):
    make_driver(tmp_path, (driver / "driver.c").read_text().replace("*c = 2;", "*c = 1;"))
    printed = run(
        tmp_path,
        """
        b, c = Interface(0x2000, stream=0x70), Interface(0x3000, strides=(4,), stream=0x70)
        add(Interface(0x1000, stream=0x70), b, c)
        add(Interface(0x1000), Interface(0x2000, stream=1), Interface(0x3000))
        refused(Interface(0x1000), b, c)
        refused(Interface(0x1000, stream=0x70), b, Interface(0x3000, typestr="<c8"))
        refused(Interface(0x1000, stream=0x70), b, Interface(0x3000, strides=(8,), stream=0x70))
        refused(Interface(0x1000, stream=0x70), b, Interface(0x3000, stream=0x70, read_only=True))
        """,
    )
    assert printed == [
        "load sm_80",
        "launch grid 3 stream 0x70 at 1000 2000",
        "launch grid 3 stream (nil) at 1000 2000",
        "ArgumentError `B` is ready on another stream than the arrays before it: expected one",
        "ArgumentError `C` was given a tensor of <c8: kernels have no such elements",
        "ArgumentError `C` was given an array of shape [300] with strides of [8] bytes: "
        "expected C order [BadArgument]",
        "ArgumentError `C` was given a read-only array: the kernel writes it",
    ]


def test_constants_are_compared(driver):
    printed = run(
        driver,
        """
        from kernels_for_tests import blocked
        count_python(ww.KernelFunction)
        a, b = Quick(0x1000), Quick(0x2000)
        for block in (128, 128, int("512"), int("512"), 128):
            blocked(a, b, BLOCK=block)
        """,
    )
    assert [line for line in printed if not line.startswith("load")] == [
        "python",
        "launch grid 3 stream 0x61 at 1000 2000",
        "launch grid 3 stream 0x61 at 1000 2000",
        "python",
        "launch grid 1 stream 0x61 at 1000 2000",
        "launch grid 1 stream 0x61 at 1000 2000",
        "launch grid 3 stream 0x61 at 1000 2000",
    ]


def test_kernels_that_shapes_choose_are_told_apart(driver):
    printed = run(
        driver,
        """
        TEXT = "\\n".join((
            "from tvm.script import tirx as T",
            "@T.prim_func",
            "def copy(A_ptr: T.handle, B_ptr: T.handle):",
            "    A = T.match_buffer(A_ptr, (SIZE,), 'float32')",
            "    B = T.match_buffer(B_ptr, (SIZE,), 'float32')",
            "    T.device_entry()",
            "    b = T.cta_id([SIZE // 32])",
            "    t = T.thread_id([32])",
            "    B[b * 32 + t] = A[b * 32 + t]",
        ))
        kernels = {n: ww.compile("copy.py", text=TEXT.replace("SIZE", str(n))) for n in (64, 128)}

        class Chosen(ww._core.Launcher):
            def _call(self, a, b):
                print("python")
                kernel = kernels[a.shape[0]]
                return kernel.run_for(self, kernel._call_params, {}, (a, b), {})

        chosen = Chosen()
        for size in (64, 128, 64, 128):
            chosen(Quick(0x1000, size), Quick(0x2000, size))
        """,
    )
    assert [line for line in printed if not line.startswith("load")] == [
        "python",
        "launch grid 2 stream 0x61 at 1000 2000",
        "python",
        "launch grid 4 stream 0x61 at 1000 2000",
        "launch grid 2 stream 0x61 at 1000 2000",
        "launch grid 4 stream 0x61 at 1000 2000",
    ]


def test_a_bound_call_repeats_a_launch(driver):
    printed = run(
        driver,
        """
        bound = add.bind(Tensor(0x1000), Tensor(0x2000), out=Tensor(0x3000))
        bound()
        bound()
        try: bound(1)
        except ww.ArgumentError as error: print(error)
        add.bind(Quick(0x1000), Quick(0x2000), Quick(0x3000))()
        """,
    )
    assert printed == [
        "load sm_90a",
        "launch grid 3 stream 0x51 at 1000 2000",
        "launch grid 3 stream 0x51 at 1000 2000",
        "a bound call takes no arguments: it has them already",
        "launch grid 3 stream 0x61 at 1000 2000",
    ]


def test_what_does_not_fit_is_refused_by_name(driver):
    printed = run(
        driver,
        """
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
        "TrapError launching `add_1` failed: CUDA_ERROR_FAKE [Trapped]",
        "NoDeviceError there is no GPU 7: the driver has 2 [NoDevice]",
        "`check=True` is for the virtual GPU: a GPU checks nothing",
        "`add.bind` was given no CUDA tensor",
        "`A` is in the memory of a GPU: expected memory of the host",
    ]


def test_a_trap_is_explained_by_the_virtual_gpu(driver):
    printed = run(
        driver,
        """
        a, b = Quick(0x1000, 64), Quick(0xDEAD000, 64)
        stray(a, a, debug=True)  # this driver lets it pass
        try: stray(b, b, debug=True)
        except ww.TrapError as error: print(error, error.kind, error.report.findings[0].check, sep="|")
        try: add(b, b, b, debug=True)
        except ww.TrapError as error: print(str(error).splitlines()[-1], error.report.ok)
        try: asserting(b, b, debug=True)
        except ww.TrapError as error: print(str(error).splitlines()[-1].split(", /")[0])
        report = ww.debug(stray, a, B=b)
        print(report.ok, report.findings[0].check)
        given = Interface(0x1000, 64)
        given.get = lambda: np.zeros(64, np.float32)
        print(ww.debug(stray, given, b).findings[0].check)
        try: ww.debug(stray, Interface(0x1000, 64), b)
        except ww.DeviceError as error: print(error)
        try: ww.debug(stray, Quick(0xBAD000, 64), b)
        except ww.DeviceError as error: print(error)
        """,
    )
    printed = [line for line in printed if not line.startswith(("load", "launch"))]
    assert printed[0] == "running `stray` failed: CUDA_ERROR_FAKE [Trapped]"
    assert printed[1].startswith("the virtual GPU, with the same arguments: line ")
    assert "bounds: " in printed[1] and printed[1].endswith("|Trapped|bounds")
    assert printed[2:] == [
        "the virtual GPU finds nothing wrong with the same arguments: an earlier launch trapped True",
        "the virtual GPU, with the same arguments: trapped: assertion `too many` failed",
        "False bounds",
        "bounds",
        "argument 0 was given Interface, which cannot be copied to the host",
        "argument 0 cannot be copied from the GPU: CUDA error: misaligned address",
        "after a trap the GPU's memory is lost; call with `debug=True` in a new process",
    ]


def test_the_environment_asks_for_debugging(driver):
    printed = run(
        driver,
        """
        import os
        os.environ["WARPWRIGHT_DEBUG"] = "1"
        try: stray(Quick(0xDEAD000, 64), Quick(0x1000, 64))
        except ww.TrapError as error: print(error.report.findings[0].check)
        os.environ["WARPWRIGHT_DEBUG"] = "0"
        try: add(Quick(0xBAD000), Quick(0x1000), Quick(0x1000))
        except ww.TrapError as error: print(error.report, "debug=True" in str(error))
        """,
    )
    assert [printed[2], printed[-1]] == ["bounds", "None True"]


@pytest.mark.parametrize(
    ("call", "status", "error"),
    [
        ("cuModuleLoadDataEx", 222, "OldDriverError"),
        ("cuModuleLoadDataEx", 209, "NoDeviceError"),
        ("cuModuleLoadDataEx", 2, "OutOfMemoryError"),
        ("cuModuleLoadDataEx", 218, "DeviceError"),
        ("cuInit", 999, "NoDriverError"),
    ],
)
def test_failures_have_names(driver, tmp_path, call, status, error):
    text = (driver / "driver.c").read_text()
    start = text.index(f"int {call}(")
    brace = text.index("{", start)
    make_driver(tmp_path, text[: brace + 1] + f" return {status};" + text[brace + 1 :])
    printed = run(tmp_path, "refused(Quick(0x1000), Quick(0x2000), Quick(0x3000))")
    assert printed[0].startswith(f"{error} ")


def test_without_a_driver_the_error_says_so(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("")
    printed = run(tmp_path, "refused(Tensor(0x1000), Tensor(0x2000), Tensor(0x3000))")
    assert printed[0].startswith("NoDriverError ") and "libcuda.so.1" in printed[0]
