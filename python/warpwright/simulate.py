# SPDX-License-Identifier: Apache-2.0
"""PTX of any origin on the virtual GPU, a real one, or both."""

from __future__ import annotations

from typing import Any, Sequence, Union

from . import _core
from .arrays import describe
from .errors import ArgumentError
from .reports import Report

Extents = Union[int, Sequence[int]]
_DEVICES = ("sim", "cuda", "both")


def sim(
    ptx: str,
    *args: Any,
    grid: Extents,
    block: Extents,
    kernel: str = "",
    cluster: Extents | None = None,
    shared: int = 0,
    checks: str = "",
    schedule: str = "",
    limits: str = "",
    device: str = "sim",
) -> Report:
    """Runs a kernel of a PTX text, from Triton, nvcc or by hand, and reports what was found.

    An argument for each parameter: an array for a pointer, which the kernel changes in place, a
    number, or a `TensorMap` of an array. `kernel` may be left out where the text has one. `shared` is dynamic shared memory.

    `device` is "sim", "cuda" for a GPU, where nothing is checked, or "both": the arrays then get
    the results of the virtual GPU, and the report says whether the GPU left the same bits.
    """
    if device not in _DEVICES:
        raise ArgumentError(f'`device` is {device!r}: expected "sim", "cuda" or "both"')
    described = [_described(value, f"parameter {i}") for i, value in enumerate(args)]
    sizes = _extents(grid, "grid"), _extents(block, "block")
    clusters = None if cluster is None else _extents(cluster, "cluster")
    return Report(
        *_core.sim(
            ptx, described, kernel, *sizes, clusters, shared, checks, schedule, limits, device
        )
    )


class TensorMap:
    """A tensor map of an array, for a parameter `const __grid_constant__ CUtensorMap`.

    Lists are in the order of the array's shape, innermost dimension last. Settings, as on the command
    line: `swizzle`, `interleave`, `fill`, `promotion`, `element_strides`, `dims`, `strides`, `offset`,
    `type`; `channels`, `pixels`, `lower` and `upper` make it an im2col map, which has no box.
    """

    def __init__(self, array: Any, box: Extents | None = None, **settings: Any) -> None:
        self.array = array
        self.settings = {"box": box, **settings} if box is not None else dict(settings)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"TensorMap({type(self.array).__name__}, {shown})"


def _described(value: Any, name: str) -> Any:
    if not isinstance(value, TensorMap):
        return describe(value, name)
    array = describe(value.array, name)
    if not isinstance(array, tuple):
        raise ArgumentError(f"`{name}` was given a TensorMap of {value.array!r}: expected an array")
    return (*array, {key: _text(each) for key, each in value.settings.items()})


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(str(each) for each in value) + "]"
    return str(value)


def _extents(value: Extents, name: str) -> tuple[int, int, int]:
    given = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(given) <= 3 or any(not 1 <= each < 2**31 for each in given):
        raise ArgumentError(f"`{name}` is {value!r}: expected one to three numbers from 1 on")
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z
