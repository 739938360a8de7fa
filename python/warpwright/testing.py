# SPDX-License-Identifier: Apache-2.0
"""Kernels against references, for test suites."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping

import numpy as np

from .errors import FindingError
from .kernels import Kernel


def assert_matches(
    kernel: Kernel,
    reference: Callable[..., Any],
    shapes: Iterable[Mapping[str, int]] = ({},),
    *,
    seed: int = 0,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Runs the kernel on the virtual GPU and compares what it writes with a reference.

    `shapes` gives values to the extents that the kernel leaves open, a run for each. Inputs are
    random: floats from a normal distribution, integers from 0 to 7. `reference` gets the arrays that
    the kernel does not write, in their order, and returns an array for each that it writes, or one.
    Raises AssertionError for a difference and FindingError for a finding. Without `rtol` and `atol`
    the tolerance is that of the element type.
    """
    for extents in shapes:
        arrays = _make_arrays(kernel, dict(extents), np.random.default_rng(seed))
        rows = kernel.params
        inputs = [a.copy() for a, row in zip(arrays, rows) if not row["writes"]]
        report = kernel.check(*arrays)
        if not report.ok:
            error = FindingError(report.text)
            error.report = report
            raise error
        wanted = reference(*inputs)
        wanted = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
        results = [(row, a) for a, row in zip(arrays, rows) if row["writes"]]
        if len(wanted) != len(results):
            raise AssertionError(
                f"the reference gives {len(wanted)} arrays: `{kernel.name}` writes {len(results)}"
            )
        for (row, got), want in zip(results, wanted):
            _compare(row["name"], extents, got, np.asarray(want), rtol, atol)


def _make_arrays(kernel: Kernel, extents: dict[str, int], rng: np.random.Generator) -> list[Any]:
    out: list[Any] = []
    for row in kernel.params:
        dtype = _numpy_dtype(row["dtype"])
        if not row["is_array"]:
            out.append(extents.get(row["name"], 1))
            continue
        shape = tuple(_extent(text, extents, row["name"]) for text in row["shape"])
        if row["writes"]:
            out.append(np.zeros(shape, dtype))
        elif np.issubdtype(dtype, np.integer) or dtype == np.bool_:
            out.append(rng.integers(0, 2 if dtype == np.bool_ else 8, shape).astype(dtype))
        else:
            out.append(rng.standard_normal(shape).astype(dtype))
    return out


def _extent(text: str, extents: dict[str, int], name: str) -> int:
    if text.isdigit():
        return int(text)
    if text in extents:
        return extents[text]
    raise ValueError(f"`shapes` has no value for the extent `{text}` of `{name}`")


def _numpy_dtype(name: str) -> np.dtype:
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # noqa: PLC0415  only for what NumPy lacks

        return np.dtype(getattr(ml_dtypes, name))


# Of a result that was computed in float32 and rounded once: a few units of the last place.
_TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 4e-3, "bfloat16": 3e-2}


def _compare(
    name: str, extents: Any, got: np.ndarray, want: np.ndarray, rtol: Any, atol: Any
) -> None:
    exact = got.dtype.kind in "iub"
    tolerance = 0.0 if exact else _TOLERANCES.get(got.dtype.name, 0.15)
    np.testing.assert_allclose(
        got.astype(np.float64),
        want.astype(np.float64),
        rtol=tolerance if rtol is None else rtol,
        atol=tolerance if atol is None else atol,
        err_msg=f"`{name}` differs from the reference for {dict(extents) or 'its shape'}",
    )
