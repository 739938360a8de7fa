# SPDX-License-Identifier: Apache-2.0
"""Calls on a GPU: which one, and on which of PyTorch's streams."""

from __future__ import annotations

import sys
from typing import Any, Sequence

from . import _core


def number_of(values: Sequence[Any]) -> int | None:
    """The GPU that the first CUDA tensor is on; None where there is no such tensor."""
    for value in values:
        if getattr(value, "is_cuda", False):
            return value.get_device()
    return None


def stream_of(number: int) -> int:
    """PyTorch's current stream on that GPU. A CUDA tensor means that torch is imported."""
    return sys.modules["torch"]._C._cuda_getCurrentRawStream(number)


class BoundCall:
    """A kernel with its tensors: call it to launch it on PyTorch's current stream."""

    __slots__ = ("_core", "_number")

    def __init__(self, core: _core.BoundCall, number: int):
        self._core = core
        self._number = number

    def __call__(self) -> None:
        self._core.launch(stream_of(self._number))
