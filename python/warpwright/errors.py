# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the package. All are `Error`; each is also what Python calls such a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reports import Report


class Error(Exception):
    """Something that Warpwright refuses. `kind` is the word in brackets of its message."""

    kind: str = ""


class CompileError(Error):
    """A kernel that does not compile. The message has file, line and reason of every error."""


class CaptureError(CompileError):
    """A value that a kernel uses and that cannot be taken along into the compiler."""


class ArgumentError(Error, ValueError):
    """An argument that does not fit its parameter, or an option that does not exist."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of a kind that no parameter takes: a masked array, a sparse tensor, a list."""


class LayoutError(Error, ValueError):
    """A layout, or an operation on one, that has no meaning."""


class FileError(Error, OSError):
    """A file that cannot be read."""


class OutOfMemoryError(Error, MemoryError):
    """Arrays that are larger than the memory of the virtual GPU, of a GPU, or the host's."""


class DeviceError(Error, RuntimeError):
    """A launch that the device refuses, or a kernel that does not run to its end there."""


class NoDriverError(DeviceError):
    """There is no CUDA driver, or it does not start."""


class OldDriverError(DeviceError):
    """The CUDA driver is too old: for the PTX version, or for this package."""


class NoDeviceError(DeviceError):
    """There is no such GPU, or it does not run code for the kernel's target."""


class TrapError(DeviceError):
    """A kernel trapped on the GPU: an illegal or misaligned address, `trap`, an assertion.

    The GPU's context is of no use any more; PyTorch's calls fail, too, until the process ends.
    `report` is what the virtual GPU found for the same arguments, where they were kept
    (`debug=True`), and None otherwise.
    """

    report: Report | None = None


class EvaluationError(Error, RuntimeError):
    """The reference evaluator does not execute something, or a run exceeds its limits."""


class FindingError(Error):
    """The virtual GPU has found something (`check=True`). `report` has the findings."""

    report: Report


class WorkerError(Error, RuntimeError):
    """A part of a sweep whose workers were lost again and again."""


class CacheWarning(UserWarning):
    """A folder or file of compiled kernels that another user may have written, and that is not read."""


class FindingWarning(UserWarning):
    """The virtual GPU has found something in a call without `check=True`."""


_KINDS = {
    "BadArgument": ArgumentError,
    "UnknownName": ArgumentError,
    "Io": FileError,
    "TooLarge": OutOfMemoryError,
    "OutOfMemory": OutOfMemoryError,
    "NoDriver": NoDriverError,
    "OldDriver": OldDriverError,
    "NoDevice": NoDeviceError,
    "Trapped": TrapError,
    "DeviceError": DeviceError,
    "BadLaunch": DeviceError,
    "NotSimulated": DeviceError,
    "NotEmitted": CompileError,
    "NotEvaluated": EvaluationError,
    "RunLimit": EvaluationError,
}


def of_kind(kind: str, text: str) -> Error:
    """The exception for a diagnostic of the driver."""
    message = text.rstrip("\n").removeprefix("error: ")
    if kind == "Trapped":
        message += (
            "\n  note: this kernel or an earlier one trapped, and the GPU is lost to this process; in a "
            "new one `debug=True` (or WARPWRIGHT_DEBUG=1) says which and why"
        )
    error = _KINDS.get(kind, ArgumentError)(message)
    error.kind = kind
    return error
