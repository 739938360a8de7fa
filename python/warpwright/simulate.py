# SPDX-License-Identifier: Apache-2.0
"""PTX of any origin on the virtual GPU."""

from __future__ import annotations

from typing import Any, Sequence, Union

from . import _core
from .arrays import describe
from .errors import ArgumentError
from .reports import Report

Extents = Union[int, Sequence[int]]


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
) -> Report:
    """Runs a kernel of a PTX text, from Triton, nvcc or by hand, and reports what was found.

    An argument for each parameter: an array for a pointer, which the kernel changes in place, or a
    number. `kernel` may be left out where the text has one. `shared` is dynamic shared memory.
    """
    described = [describe(value, f"parameter {i}") for i, value in enumerate(args)]
    sizes = _extents(grid, "grid"), _extents(block, "block")
    clusters = None if cluster is None else _extents(cluster, "cluster")
    return Report(
        *_core.sim(ptx, described, kernel, *sizes, clusters, shared, checks, schedule, limits)
    )


def _extents(value: Extents, name: str) -> tuple[int, int, int]:
    given = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(given) <= 3 or any(not 1 <= each < 2**31 for each in given):
        raise ArgumentError(f"`{name}` is {value!r}: expected one to three numbers from 1 on")
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z
