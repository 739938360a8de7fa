# SPDX-License-Identifier: Apache-2.0
"""Warpwright from Python: kernels called with arrays as if they were functions.

    import warpwright as ww

    transpose = ww.compile("examples/transpose.py")
    transpose(a, out=b)          # NumPy arrays: on the virtual GPU, in place
    print(transpose.ptx, transpose.explain())

docs/guide/python.md goes through all of it.
"""

from __future__ import annotations

from . import cache, lang, testing
from ._core import __version__
from .autotuning import AutotunedKernel, autotune
from .debugging import debug
from .decorator import KernelFunction, Tensor, kernel
from .errors import (
    ArgumentError,
    ArgumentTypeError,
    CacheWarning,
    CaptureError,
    CompileError,
    DeviceError,
    Error,
    EvaluationError,
    FileError,
    FindingError,
    FindingWarning,
    LayoutError,
    NoDeviceError,
    NoDriverError,
    OldDriverError,
    OutOfMemoryError,
    TrapError,
    WorkerError,
)
from .kernels import Kernel, compile
from .layouts import Layout
from .reports import Explanation, Finding, Report
from .simulate import TensorMap, sim
from .torch_ops import torch_op
from .tuning import TuneResult, tune

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AutotunedKernel",
    "CacheWarning",
    "CaptureError",
    "CompileError",
    "DeviceError",
    "Error",
    "EvaluationError",
    "Explanation",
    "FileError",
    "Finding",
    "FindingError",
    "FindingWarning",
    "Kernel",
    "KernelFunction",
    "Layout",
    "LayoutError",
    "NoDeviceError",
    "NoDriverError",
    "OldDriverError",
    "OutOfMemoryError",
    "Report",
    "Tensor",
    "TensorMap",
    "TrapError",
    "TuneResult",
    "WorkerError",
    "__version__",
    "autotune",
    "cache",
    "compile",
    "debug",
    "kernel",
    "lang",
    "sim",
    "testing",
    "torch_op",
    "tune",
]
