# SPDX-License-Identifier: Apache-2.0
"""Calls on a GPU: which one, and on which of PyTorch's streams."""

from __future__ import annotations

import sys
from typing import Any, Callable, Sequence


def number_of(values: Sequence[Any]) -> int | None:
    """The GPU that the first CUDA tensor is on; None where there is no such tensor."""
    for value in values:
        if getattr(value, "is_cuda", False):
            return value.get_device()
    return None


def streams() -> Callable[[int], int]:
    """PyTorch's current stream on a GPU, by its number. A CUDA tensor means that torch is imported."""
    return sys.modules["torch"]._C._cuda_getCurrentRawStream
