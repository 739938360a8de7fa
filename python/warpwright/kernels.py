# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels: every form of one, and calls."""

from __future__ import annotations

import os
import warnings
from typing import Any

from . import _core, cache, gpu
from .arrays import describe
from .errors import ArgumentError, DeviceError, FindingError, FindingWarning
from .reports import Explanation, Report
from .source import Source


def compile(
    path: str | os.PathLike[str],
    kernel: str = "",
    *,
    target: str = "auto",
    text: str | None = None,
) -> Kernel:
    """Compiles a kernel of a file.

    `kernel` is an expression over the file's names, as `--kernel` takes it: `"build(M=4096)"`,
    `"build()::gemm"`; empty for the only kernel there is. `text` stands in the place of the file's
    own. Raises CompileError with the located messages of the command line.
    """
    name = os.fspath(path)
    if text is None:
        text = _core.source_text(name)
    return compile_source(Source(name, text, kernel, _read_target(target), ""))


def compile_source(source: Source) -> Kernel:
    """The kernel of a source, from the cache if it was compiled before."""
    return Kernel(source, cache.get(source))


def _read_target(target: str) -> str:
    if target not in _core.target_names():
        known = ", ".join(_core.target_names())
        raise ArgumentError(f"`target` is {target!r}: expected one of {known}")
    return target


class Kernel:
    """A compiled kernel. Call it with arrays: NumPy arrays run on the virtual GPU, in place."""

    def __init__(self, source: Source, core: _core.Kernel):
        self._source = source
        self._core = core
        self._params: list[dict[str, Any]] = core.params
        self._native: dict[int, _core.Kernel] = {}  # by the number of the GPU

    # --- what it is -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def params(self) -> list[dict[str, Any]]:
        """Name, type, shape of each parameter, and whether the kernel writes it."""
        return [dict(row) for row in self._params]

    @property
    def target(self) -> str:
        return self._core.target

    @property
    def ptx(self) -> str:
        return self._core.ptx

    @property
    def cuda(self) -> str:
        """CUDA C++ that stands alone."""
        return self._whole().form("cuda")

    @property
    def ir(self) -> str:
        """The lowered program: loops, flat buffers, PTX instructions."""
        return self._whole().form("ir")

    @property
    def tile(self) -> str:
        """The program as it was written, checked, in one spelling."""
        return self._whole().form("tile")

    @property
    def registers(self) -> int | None:
        """Registers of a thread, as ptxas assigns them; None where it is not installed."""
        ptxas = _core.find_ptxas(os.environ.get("PATH", ""))
        return self._core.size_by(ptxas)[0] if ptxas else None

    def explain(self) -> Explanation:
        """What was chosen for each primitive, what was declined, and why."""
        whole = self._whole()
        return Explanation(whole.explain_text(), whole.explain_json())

    def _whole(self) -> _core.Kernel:
        """With the report of the compiler, which a kernel from the cache lacks."""
        if self._core.is_loaded:
            self._core = cache.whole(self._source)
        return self._core

    def __repr__(self) -> str:
        params = ", ".join(_param_text(row) for row in self._params)
        return f"<Kernel {self.name}({params}) for {self.target}>"

    def _repr_html_(self) -> str:
        return self.explain()._repr_html_()

    def __reduce__(self) -> tuple[Any, ...]:
        return compile_source, (self._source,)

    # --- calls ------------------------------------------------------------------------------------

    def __call__(self, *args: Any, out: Any = None, check: bool = False, **named: Any) -> Any:
        """Runs the kernel. Results are written into the arrays given.

        With CUDA tensors of PyTorch it is launched on their GPU, on PyTorch's current stream, and
        the call does not wait; with arrays of the host it runs on the virtual GPU. Arguments go by
        position or by the name of the parameter; `out`, an array or a tuple of them, is for those
        parameters that the kernel writes and that are not given otherwise.
        Returns `out`. With `check=True` a finding raises FindingError, else it is a warning.
        """
        values = self._bind(args, out, named)
        number = gpu.number_of(values)
        if number is not None:
            if check:
                raise ArgumentError("`check=True` is for the virtual GPU: a GPU checks nothing")
            _core.call_on_gpu(self._on_gpu(number), values, number, gpu.streams()(number))
            return out
        report = self._simulate(values)
        if report.findings and check:
            error = FindingError(report.text)
            error.report = report
            raise error
        if not report.finished:
            raise DeviceError(report.text)
        if report.findings:
            warnings.warn(str(report.findings[0]), FindingWarning, stacklevel=2)
        return out

    def check(
        self,
        *args: Any,
        out: Any = None,
        checks: str = "",
        schedule: str = "",
        limits: str = "",
        **named: Any,
    ) -> Report:
        """Runs the kernel as a call does, and reports what was found.

        `checks`, `schedule` and `limits` are what `--check`, `--schedule` and `--limit` take.
        """
        return self._simulate(self._bind(args, out, named), checks, schedule, limits)

    def bind(self, *args: Any, out: Any = None, **named: Any) -> _core.BoundCall:
        """The kernel with CUDA tensors as its arguments, checked once, to be launched often."""
        values = self._bind(args, out, named)
        number = gpu.number_of(values)
        if number is None:
            raise ArgumentError(f"`{self.name}.bind` was given no CUDA tensor")
        return _core.bind_on_gpu(self._on_gpu(number), values, number, gpu.streams())

    def _on_gpu(self, number: int) -> _core.Kernel:
        """The kernel as that GPU runs it; one that was compiled for no target in particular is
        compiled for the GPU."""
        if number not in self._native:
            self._native[number] = self._core
            if self._source.target == "auto":
                target = _core.native_target(number)
                if not self.target.startswith(target + ","):
                    self._native[number] = cache.get(self._source._replace(target=target))
        return self._native[number]

    def _simulate(
        self, values: list[Any], checks: str = "", schedule: str = "", limits: str = ""
    ) -> Report:
        described = [describe(v, row["name"]) for v, row in zip(values, self._params)]
        return Report(*self._core.call_on_sim(described, checks, schedule, limits))

    def _bind(self, args: tuple[Any, ...], out: Any, named: dict[str, Any]) -> list[Any]:
        """An argument for each parameter, in their order."""
        count = len(self._params)
        if len(args) == count and out is None and not named:
            return list(args)
        if len(args) > count:
            raise ArgumentError(f"`{self.name}` was given {len(args)} arguments: expected {count}")
        given: dict[int, Any] = dict(enumerate(args))
        for name, value in named.items():
            given[self._index_of(name, given)] = value
        self._place_out(out, given)
        missing = [row["name"] for i, row in enumerate(self._params) if i not in given]
        if missing:
            names = ", ".join(f"`{name}`" for name in missing)
            raise ArgumentError(f"`{self.name}` was given no argument for {names}")
        return [given[i] for i in range(count)]

    def _index_of(self, name: str, given: dict[int, Any]) -> int:
        for i, row in enumerate(self._params):
            if name not in (row["name"], row["variable"]):
                continue
            if i in given:
                raise ArgumentError(f"`{name}` was given twice")
            return i
        known = ", ".join(row["name"] for row in self._params)
        raise ArgumentError(f"`{self.name}` has no parameter `{name}`: it has {known}")

    def _place_out(self, out: Any, given: dict[int, Any]) -> None:
        if out is None:
            return
        arrays = out if isinstance(out, tuple) else (out,)
        open_ones = [
            i for i, row in enumerate(self._params) if row["writes"] and i not in given
        ]
        if len(arrays) != len(open_ones):
            names = ", ".join(self._params[i]["name"] for i in open_ones) or "none"
            raise ArgumentError(
                f"`out` has {len(arrays)} arrays: `{self.name}` writes {len(open_ones)} "
                f"parameters that are not given ({names})"
            )
        given.update(zip(open_ones, arrays))


def _param_text(row: dict[str, Any]) -> str:
    if not row["is_array"]:
        return f"{row['name']}: {row['dtype']}"
    return f"{row['name']}: {row['dtype']}[{', '.join(row['shape'])}]"
