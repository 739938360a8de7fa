# SPDX-License-Identifier: Apache-2.0
"""A driver that takes every launch and prints it, and tensors for it: no GPU is needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

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
    def __init__(self, address, n=300, typestr="<f4", strides=None, stream=None, read_only=False, mask=None):
        self.__cuda_array_interface__ = {
            "data": (address, read_only), "shape": (n,), "typestr": typestr, "version": 3,
            "strides": strides, "stream": stream, "mask": mask}

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


def driver_text(calls: Path) -> str:
    """In C, with a stub for every other function that this table of calls has."""
    symbols = re.findall(r"^WW_CUDA_CALL\(\w+,\s*(\w+)", calls.read_text(), re.MULTILINE)
    stubs = [f"int {name}(void) {{ return 0; }}\n" for name in symbols if f"{name}(" not in OWN]
    return OWN + "".join(stubs)


def make_driver(folder: Path, text: str) -> None:
    """Leaves the library and its text, `driver.c`, in the folder; skips without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler, to make a driver of")
    (folder / "driver.c").write_text(text)
    library = folder / "libcuda.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "driver.c"], check=True)


def run(driver: Path, code: str) -> list[str]:
    """What this code, behind `PRELUDE`, prints with the driver of that folder."""
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
