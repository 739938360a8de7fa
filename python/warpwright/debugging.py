# SPDX-License-Identifier: Apache-2.0
"""What went wrong on a GPU: the same call on the virtual GPU, which checks everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import DeviceError, TrapError
from .reports import Report

if TYPE_CHECKING:
    from .decorator import KernelFunction
    from .kernels import Kernel


def debug(kernel: Kernel | KernelFunction, *args: Any, **named: Any) -> Report:
    """Reruns a call on the virtual GPU, with all checks, and reports what was found.

    It takes what the call takes, CUDA tensors or arrays of the host, and works on copies: the
    arguments stay as they are. It needs their values, so it comes before the call or in a new process:
    when a kernel has trapped, its GPU's memory is lost. `kernel(…, debug=True)` does both.
    """
    copies = [copy_to_host(value, f"argument {i}") for i, value in enumerate(args)]
    return kernel.check(*copies, **{k: copy_to_host(v, f"`{k}`") for k, v in named.items()})


def copy_to_host(value: Any, name: str) -> Any:
    """A copy of an array in memory of the host; what is no array comes back as it is."""
    if isinstance(value, tuple):
        return tuple(copy_to_host(each, name) for each in value)
    if isinstance(value, np.ndarray):
        return value.copy()
    if getattr(value, "is_cuda", False):
        try:
            return value.detach().cpu()
        except RuntimeError as why:
            raise DeviceError(
                f"{name} cannot be copied from the GPU: {str(why).splitlines()[0]}\n"
                "after a trap the GPU's memory is lost; call with `debug=True` in a new process"
            ) from None
    if hasattr(value, "clone") and hasattr(value, "data_ptr"):
        return value.detach().clone()
    if hasattr(value, "__cuda_array_interface__"):
        return _copy_of_other(value, name)
    return value


def _copy_of_other(value: Any, name: str) -> np.ndarray:
    """Of an array on the GPU, of CuPy, Numba or JAX."""
    for method in ("get", "copy_to_host", "__array__"):
        if hasattr(value, method):
            return np.array(getattr(value, method)())
    raise DeviceError(f"{name} was given {type(value).__name__}, which cannot be copied to the host")


def explained(trap: TrapError, report: Report) -> TrapError:
    """A trap with what the virtual GPU found for the same arguments."""
    if report.ok:
        found = "the virtual GPU finds nothing wrong with the same arguments: an earlier launch trapped"
    else:
        rows = [str(finding) for finding in report.findings[:3]]
        if not report.finished:
            rows.append(report.data["outcome"])
        found = "the virtual GPU, with the same arguments: " + "\n  ".join(rows)
    out = TrapError(f"{str(trap).splitlines()[0]}\n{found}")
    out.kind, out.report = trap.kind, report
    return out
