# SPDX-License-Identifier: Apache-2.0
"""Kernels against references, for test suites."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from . import _core
from .arrays import check_plain
from .decorator import KernelFunction
from .errors import ArgumentError, DeviceError, EvaluationError, FindingError
from .kernels import Kernel
from .reports import Report

# What `--device` calls them, and in words.
_ENGINES = {"eval": "the reference evaluator", "sim": "the virtual GPU", "cuda": "the GPU"}


def assert_matches(
    kernel: Kernel | KernelFunction,
    reference: Callable[..., Any],
    shapes: Iterable[Mapping[str, int]] = ({},),
    *,
    seed: int = 0,
    rtol: float | None = None,
    atol: float | None = None,
    engines: Sequence[str] | None = None,
) -> None:
    """Runs the kernel on every engine and compares what it writes with a reference.

    `shapes` gives values to the extents that the kernel leaves open, a run for each. Inputs are
    random: floats from a normal distribution, integers from 0 to 7. `reference` gets the arrays that
    the kernel does not write, in their order, and returns an array for each that it writes, or one.

    The engines are the reference evaluator where it executes the kernel, the virtual GPU with all
    checks, and the GPU if there is one; `engines`, of "eval", "sim" and "cuda", asks for some and
    makes each a must. Raises AssertionError for a difference, with the engine, the shapes and the
    first element, and FindingError for a finding. Without `rtol` and `atol` the tolerance is that of
    the element type.
    """
    made = kernel.specialize() if isinstance(kernel, KernelFunction) else kernel
    chosen = _chosen(engines)
    for extents in shapes:
        arrays = _make_arrays(made, dict(extents), np.random.default_rng(seed))
        wanted = _wanted(made, reference, arrays)
        for engine in chosen:
            given = [a.copy() if isinstance(a, np.ndarray) else a for a in arrays]
            if _run(made, engine, given, is_must=engines is not None):
                where = f"on {_ENGINES[engine]}"
                if extents:
                    where += f", for {dict(extents)}"
                _compare_all(made, given, wanted, where, rtol, atol)


def _chosen(engines: Sequence[str] | None) -> list[str]:
    if engines is None:
        return [each for each in _ENGINES if each != "cuda" or _has_gpu()]
    for each in engines:
        if each not in _ENGINES:
            raise ArgumentError(f"`engines` has {each!r}: expected {', '.join(_ENGINES)}")
    return list(engines)


def _has_gpu() -> bool:
    try:
        _core.native_target(0)
    except DeviceError:
        return False
    return True


def _run(kernel: Kernel, engine: str, arrays: list[Any], is_must: bool) -> bool:
    """Runs it in place. False where the evaluator does not execute it, and need not."""
    if engine == "cuda":
        Report(*kernel._on_gpu(0).run(kernel._described(arrays), "cuda"))
        return True
    try:
        report = kernel.evaluate(*arrays) if engine == "eval" else kernel.check(*arrays)
    except EvaluationError:
        if is_must:
            raise
        return False
    if not report.ok:
        error = FindingError(report.text)
        error.report = report
        raise error
    return True


def _wanted(kernel: Kernel, reference: Callable[..., Any], arrays: list[Any]) -> list[np.ndarray]:
    rows = kernel.params
    inputs = [
        a.copy() if isinstance(a, np.ndarray) else a
        for a, row in zip(arrays, rows)
        if not row["writes"]
    ]
    wanted = reference(*inputs)
    wanted = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
    count = sum(row["writes"] for row in rows)
    if len(wanted) != count:
        raise AssertionError(
            f"the reference gives {len(wanted)} arrays: `{kernel.name}` writes {count}"
        )
    for each in wanted:
        if isinstance(each, np.ndarray):
            check_plain(each, "reference")
    return [np.asarray(each) for each in wanted]


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
    if text.isdecimal():
        return int(text)
    if text in extents:
        return extents[text]
    raise ValueError(f"`shapes` has no value for the extent `{text}` of `{name}`")


def _numpy_dtype(name: str) -> np.dtype:
    try:
        return np.dtype(name)
    except TypeError:
        try:
            import ml_dtypes  # noqa: PLC0415  only for what NumPy lacks
        except ImportError:
            raise ArgumentError(
                f"arrays of {name} need the package ml_dtypes: `pip install ml_dtypes`"
            ) from None
        return np.dtype(getattr(ml_dtypes, name))


# Of a result that was computed in float32 and rounded once: a few units of the last place.
_TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 4e-3, "bfloat16": 3e-2}


def _compare_all(
    kernel: Kernel, arrays: list[Any], wanted: list[np.ndarray], where: str, rtol: Any, atol: Any
) -> None:
    results = [(row["name"], a) for a, row in zip(arrays, kernel.params) if row["writes"]]
    for (name, got), want in zip(results, wanted):
        if want.ndim > 0 and want.shape != got.shape:
            raise AssertionError(
                f"the reference gives shape {want.shape} for `{name}`, which has {got.shape}"
            )
        compare(f"`{name}` {where}", got, np.broadcast_to(want, got.shape), rtol, atol)


def compare(what: str, got: np.ndarray, want: np.ndarray, rtol: Any = None, atol: Any = None) -> None:
    """Raises AssertionError at the first element that differs by more than the tolerance."""
    exact = got.dtype.kind in "iub"
    tolerance = 0.0 if exact else _TOLERANCES.get(got.dtype.name, 0.15)
    rtol = tolerance if rtol is None else rtol
    atol = tolerance if atol is None else atol
    if got.dtype.kind in "iub" and want.dtype.kind in "iub" and rtol == atol == 0:
        differs = got != want
    else:
        a, b = got.astype(np.float64), want.astype(np.float64)
        differs = ~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if not differs.any():
        return
    first = tuple(int(i) for i in np.argwhere(differs)[0])
    place = ", ".join(str(i) for i in first)
    raise AssertionError(
        f"{what} differs from the reference: element [{place}] is {got[first]}, expected "
        f"{want[first]}; {int(differs.sum())} of {got.size} differ (rtol={rtol:g}, atol={atol:g})"
    )
