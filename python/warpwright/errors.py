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


class LayoutError(Error, ValueError):
    """A layout, or an operation on one, that has no meaning."""


class FileError(Error, OSError):
    """A file that cannot be read."""


class OutOfMemoryError(Error, MemoryError):
    """Arrays that are larger than the virtual GPU's memory, or the host's."""


class DeviceError(Error, RuntimeError):
    """A launch that the device refuses, or a kernel that does not run to its end there."""


class FindingError(Error):
    """The virtual GPU has found something (`check=True`). `report` has the findings."""

    report: Report


class WorkerError(Error, RuntimeError):
    """A part of a sweep whose workers were lost again and again."""


class FindingWarning(UserWarning):
    """The virtual GPU has found something in a call without `check=True`."""


_KINDS = {
    "BadArgument": ArgumentError,
    "UnknownName": ArgumentError,
    "Io": FileError,
    "TooLarge": OutOfMemoryError,
    "NoDevice": DeviceError,
    "DeviceError": DeviceError,
    "BadLaunch": DeviceError,
    "NotSimulated": DeviceError,
    "NotEmitted": CompileError,
}


def of_kind(kind: str, text: str) -> Error:
    """The exception for a diagnostic of the driver."""
    message = text.rstrip("\n").removeprefix("error: ")
    error = _KINDS.get(kind, ArgumentError)(message)
    error.kind = kind
    return error
