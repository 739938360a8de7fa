# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels: every form of one, and calls."""

from __future__ import annotations

import difflib
import json
import os
import warnings
from typing import Any, NoReturn, Sequence

from . import _core, cache, debugging, settings
from .arrays import describe
from .errors import ArgumentError, ArgumentTypeError, DeviceError, FindingError, FindingWarning, TrapError
from .reports import Explanation, Report
from .source import File, Source


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
    own. Files that it imports from its folder are read, too. Raises CompileError with the located messages of the command line.
    """
    name = os.fspath(path)
    if text is None:
        text = _core.source_text(name)
    files = tuple(File(*file, "") for file in _core.imported_files(name, text))
    return compile_source(Source(name, text, kernel, _read_target(target), "", files=files))


def compile_source(source: Source) -> Kernel:
    """The kernel of a source, from the cache if it was compiled before."""
    return Kernel(source, cache.get(source))


def _read_target(target: str) -> str:
    if target not in _core.target_names():
        known = ", ".join(_core.target_names())
        raise ArgumentError(f"`target` is {target!r}: expected one of {known}")
    return target


class Callee(_core.Launcher):
    """What kernels and functions that become kernels share."""

    def _what(self) -> str:
        """Its name, for messages."""
        raise NotImplementedError

    def __getitem__(self, grid: Any) -> NoReturn:
        name = self._what()
        raise ArgumentTypeError(
            f"`{name}[{grid!r}]`: a call gives no grid: it stands in the kernel, `T.cta_id([…])`, "
            f"computed from shapes and constants; call `{name}(…)`"
        )

    def _check_count(self, args: tuple[Any, ...], params: Sequence[str]) -> None:
        if len(args) > len(params):
            raise ArgumentError(
                f"`{self._what()}` was given {len(args)} arguments: expected {len(params)} "
                f"({', '.join(params)})"
            )

    def _no_parameter(self, name: str, params: Sequence[str]) -> ArgumentError:
        close = difflib.get_close_matches(name, params, 1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        return ArgumentError(
            f"`{self._what()}` has no parameter `{name}`: it has {', '.join(params)}{hint}"
        )


class Kernel(Callee):
    """A compiled kernel. Call it with arrays: results are written into the arrays given.

    With CUDA tensors of PyTorch it is launched on their GPU, on PyTorch's current stream, and the call
    does not wait; with arrays of the host it runs on the virtual GPU. Arguments go by position or by
    the name of the parameter; `out`, an array or a tuple of them, is for those parameters that the
    kernel writes and that are not given otherwise, and is what the call returns. With `check=True` a
    finding of the virtual GPU raises FindingError, else it is a warning. With `debug=True` a call on a
    GPU keeps copies of its arguments and waits; if the kernel traps, TrapError says what the virtual
    GPU finds for them.
    """

    def __init__(self, source: Source, core: _core.Kernel):
        super().__init__()
        self._source = source
        self._core = core
        self._params: list[dict[str, Any]] = core.params
        self._native: dict[int, _core.Kernel] = {}  # by the number of the GPU

    # --- what it is -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._core.name

    def _what(self) -> str:
        return self.name

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
    def launch(self) -> dict[str, Any]:
        """How to launch it by other means: what `compile --emit launch` prints, as a dictionary."""
        return json.loads(self._core.form("launch"))

    @property
    def registers(self) -> int | None:
        """Registers of a thread, as ptxas assigns them; None where it is not installed."""
        ptxas = _core.find_ptxas(settings.program_path())
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

    def _call(self, *args: Any, **named: Any) -> Any:
        """A call that the launcher has not learned."""
        return self.run_for(self, self._call_params, {}, args, named)

    @property
    def _call_params(self) -> list[_core.CallParam]:
        return [(row["name"], row["variable"], row["writes"], False) for row in self._params]

    def run_for(
        self,
        launcher: _core.Launcher,
        params: list[_core.CallParam],
        constants: dict[str, Any],
        args: tuple[Any, ...],
        named: dict[str, Any],
    ) -> Any:
        """A call of `launcher`, which has these parameters, with constants that this kernel is for."""
        out, check = named.pop("out", None), named.pop("check", False)
        debug = named.pop("debug", False) or settings.debugs_calls()
        values = self._bind(args, out, named)
        number = _core.gpu_number(values)
        if number is not None:
            if check:
                raise ArgumentError("`check=True` is for the virtual GPU: a GPU checks nothing")
            core = self._on_gpu(number)
            if debug:
                self._call_and_wait(core, values, number)
            else:
                _core.call_on_gpu(core, values, number)
                launcher._learn(params, constants, core, values)
            return out
        report = self._simulate(values)
        if report.findings and (check or debug):
            error = FindingError(report.text)
            error.report = report
            raise error
        if not report.finished:
            raise DeviceError(report.text)
        print(report.printed, end="")
        if report.findings:
            warnings.warn(str(report.findings[0]), FindingWarning, stacklevel=3)
        return out

    def _call_and_wait(self, core: _core.Kernel, values: list[Any], number: int) -> None:
        names = [f"`{row['name']}`" for row in self._params]
        kept = [debugging.copy_to_host(v, name) for v, name in zip(values, names)]
        try:
            _core.call_on_gpu(core, values, number)
            _core.wait_for_gpu(core, number)
        except TrapError as trap:
            raise debugging.explained(trap, self._simulate(kept)) from None

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

    def evaluate(self, *args: Any, out: Any = None, **named: Any) -> Report:
        """Runs the program by its meaning, on the reference evaluator, as `check` does otherwise: no
        instruction is chosen. Raises EvaluationError for what it does not execute."""
        return Report(*self._core.run(self._described(self._bind(args, out, named)), "eval"))

    def bind(self, *args: Any, out: Any = None, **named: Any) -> _core.BoundCall:
        """The kernel with CUDA tensors as its arguments, checked once, to be launched often."""
        values = self._bind(args, out, named)
        number = _core.gpu_number(values)
        if number is None:
            raise ArgumentError(f"`{self.name}.bind` was given no CUDA tensor")
        return _core.bind_on_gpu(self._on_gpu(number), values, number)

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
        return Report(*self._core.run(self._described(values), "sim", checks, schedule, limits))

    def _described(self, values: list[Any]) -> list[Any]:
        return [describe(v, row["name"], row["dtype"]) for v, row in zip(values, self._params)]

    def _bind(self, args: tuple[Any, ...], out: Any, named: dict[str, Any]) -> list[Any]:
        """An argument for each parameter, in their order."""
        count = len(self._params)
        if len(args) == count and out is None and not named:
            return list(args)
        self._check_count(args, [row["name"] for row in self._params])
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
        raise self._no_parameter(name, [row["name"] for row in self._params])

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
