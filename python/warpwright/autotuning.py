# SPDX-License-Identifier: Apache-2.0
"""Choosing the constants of kernel functions, for arrays of the caller: `ww.tune` of a function, and
`@ww.autotune`, whose kernels do it at their first call."""

from __future__ import annotations

import itertools
import json
import math
import statistics
import time
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from . import _core, debugging
from .decorator import KernelFunction
from .errors import ArgumentError, CompileError, DeviceError, Error, TrapError
from .kernels import Kernel
from .lang.symbols import text_of
from .reports import Report
from .testing import compare
from .tuning import Configs, Made, Question, TuneResult, values_text

_BATCHES = 5  # of launches on a GPU, each timed
_BATCH_SECONDS = 0.002
_OPTIONS = {"check", "debug", "checks", "schedule", "limits"}  # of calls; no combination gets them

# Numbers in saved trials (driver/tune/tune.h): devices, and stages at which a combination is dropped.
_SIM, _CUDA = 1, 2
_COMPILE, _ARGUMENTS, _RUN, _CHECK, _EXPECT = 0, 1, 3, 4, 5


class _Wrong(Exception):
    """A combination that is not right: the stage, and all that is to be said."""


def tune_function(
    function: KernelFunction,
    space: Configs,
    args: Mapping[str, Any] | Sequence[Any],
    expect: dict[str, Any],
    show: Callable[[int, int], None] | None,
) -> TuneResult:
    """`ww.tune` of a function."""
    if isinstance(function, AutotunedKernel):
        function = function.kernel
    configs = _configs(space)
    names = list(configs[0])
    axes = {name: list(dict.fromkeys(text_of(each[name]) for each in configs)) for name in names}
    by_place, by_name = ((), dict(args)) if isinstance(args, Mapping) else (tuple(args), {})
    made: dict[str, Made] = {}
    trials: dict[str, Any] = {"schema": "warpwright/trials/1", "remark": "", "repetitions": 0}
    trials.update(device=_SIM, device_name="the virtual GPU", entries=[], drops=[])
    for done, config in enumerate(configs):
        if show is not None:
            show(done, len(configs))
        texts = {name: text_of(config[name]) for name in names}
        choice = [axes[name].index(text) for name, text in texts.items()]
        try:
            kernel, values = _compiled(function, by_place, {**by_name, **config})
            trials["entries"].append({"choice": choice, **_try(kernel, values, expect, trials)})
            pairs = ", ".join(f"{name}={text}" for name, text in texts.items())
            made[f"{function.__name__}.specialize({pairs})"] = Made(config, kernel)
        except _Wrong as wrong:
            stage, details = wrong.args
            drop = {"stage": stage, "reason": details.splitlines()[0], "details": details}
            trials["drops"].append({"choice": choice, **drop})
    if show is not None:
        show(len(configs), len(configs))
    question = Question(
        path=function._origin.path,
        kernel=f"{function.__name__}.specialize({', '.join(f'{name}=?' for name in names)})",
        spaces=[f"{name}={','.join(texts)}" for name, texts in axes.items()],
        wheres=_wheres(configs, axes),
        args=[],
        expects=[f"{name} == what was given" for name in expect],
        target="",
        device="auto",
        text="",
    )
    found = _core.tune_whole(_core.Question(*question), [json.dumps(trials)])
    return TuneResult(question.path, function._target, *found, made)


def _configs(space: Configs) -> list[dict[str, Any]]:
    """Every combination, once."""
    if isinstance(space, Mapping):
        lists = [list(values) for values in space.values()]
        out = [dict(zip(space, each)) for each in itertools.product(*lists)]
    else:
        out = [dict(each) for each in space]
    if not out or not out[0]:
        raise ArgumentError(
            "there is no combination to try: expected constants with their values, "
            '`{"BLOCK": [64, 128]}`, or a list of combinations, `[{"BLOCK": 64}, …]`'
        )
    for each in out:
        if each.keys() != out[0].keys():
            raise ArgumentError(
                f"a combination gives {', '.join(each) or 'nothing'}: expected "
                f"{', '.join(out[0])}, as the first one gives"
            )
        for name, value in each.items():
            values_text(name, [value])
    return [each for i, each in enumerate(out) if each not in out[:i]]


def _wheres(configs: list[dict[str, Any]], axes: dict[str, list[str]]) -> list[str]:
    """What leaves out the combinations that a list does not have."""
    if math.prod(map(len, axes.values())) == len(configs):
        return []
    rows = (" and ".join(f"{k} == {text_of(v)}" for k, v in each.items()) for each in configs)
    return [" or ".join(f"({row})" for row in rows)]


# --- one combination ------------------------------------------------------------------------------


def _compiled(
    function: KernelFunction, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Kernel, list[Any]]:
    try:
        return function.chosen_by(*args, **named)
    except CompileError as why:
        raise _Wrong(_COMPILE, str(why)) from None


def _try(
    kernel: Kernel, values: list[Any], expect: dict[str, Any], trials: dict[str, Any]
) -> dict[str, Any]:
    """An entry of the trials, and their device. The arrays that the kernel writes are copies."""
    number = _core.gpu_number(values)
    results: dict[str, Any] = {}
    for row, value in zip(kernel.params, values):
        if row["writes"]:
            on_host = number is None
            value = debugging.copy_to_host(value, row["name"]) if on_host else _copy_there(value)
        results[row["name"]] = value
    values = list(results.values())
    entry = dict.fromkeys(("timing", "work", "shared", "registers", "local", "spills"))
    entry.update(target=kernel.target.split(",")[0], grid=[1, 1, 1], block=[1, 1, 1])
    if number is None:
        entry.update(_simulate(kernel, kernel._described(values)))
        _compare(kernel, results, expect)
        return entry
    core = kernel._on_gpu(number)
    try:
        launch = _core.bind_on_gpu(core, values, number)
        _batch(launch, core, number, 1)  # the driver loads it
    except TrapError:
        raise  # the GPU is lost
    except DeviceError as why:
        raise _Wrong(_RUN, str(why)) from None
    _compare(kernel, results, expect)
    launches = int(_BATCH_SECONDS / max(_batch(launch, core, number, 3), 1e-6)) or 1
    times = [_batch(launch, core, number, launches) for _ in range(_BATCHES)]
    entry["timing"] = statistics.median(times), min(times), max(times), launches * _BATCHES
    trials.update(device=_CUDA, device_name=f"GPU {number}", repetitions=launches * _BATCHES)
    return entry


def _simulate(kernel: Kernel, described: list[Any]) -> dict[str, Any]:
    try:
        text, data, work = _core.run_counted(kernel._core, described)
    except (ArgumentError, DeviceError) as why:
        stage = _RUN if isinstance(why, DeviceError) else _ARGUMENTS
        raise _Wrong(stage, str(why)) from None
    report = Report(text, data)
    if not report.finished:
        raise _Wrong(_RUN, f"{report.data['outcome']}\n{text}")
    if report.findings:
        raise _Wrong(_CHECK, f"{report.findings[0]}\n{text}")
    return {"work": work, "grid": report.grid, "block": report.block}


def _batch(launch: _core.BoundCall, kernel: _core.Kernel, number: int, launches: int) -> float:
    """Seconds of a launch on a GPU, of several in a row."""
    begin = time.perf_counter()
    for _ in range(launches):
        launch()
    _core.wait_for_gpu(kernel, number)
    return (time.perf_counter() - begin) / launches


def _compare(kernel: Kernel, results: dict[str, Any], expect: dict[str, Any]) -> None:
    for name, want in expect.items():
        if name not in results:
            raise kernel._no_parameter(name, list(results))
        got, wanted = (np.asarray(debugging.copy_to_host(v, name)) for v in (results[name], want))
        if wanted.ndim > 0 and wanted.shape != got.shape:
            raise ArgumentError(
                f"`expect` has shape {wanted.shape} for `{name}`, which has {got.shape}"
            )
        try:
            compare(f"`{name}`", got, np.broadcast_to(wanted, got.shape))
        except AssertionError as why:
            raise _Wrong(_EXPECT, str(why)) from None


def _copy_there(value: Any) -> Any:
    """A copy of a tensor on its GPU."""
    return value.detach().clone() if hasattr(value, "detach") else value.copy()


# --- kernels that tune themselves -----------------------------------------------------------------


class AutotunedKernel(KernelFunction):
    """A kernel whose calls choose constants by trying: what `@ww.autotune` makes. `kernel` is the one
    without, and `tuned` has the results, by what the calls for each have in common."""

    def __init__(self, kernel: KernelFunction, configs: list[dict[str, Any]], key: Iterable[str]):
        super().__init__(kernel.__warpwright_function__, kernel._origin, kernel._target)
        self.kernel = kernel
        self._made = kernel._made
        self._configs = configs
        self.tuned_constants = list(configs[0])
        self._key = [key] if isinstance(key, str) else list(key)
        self._chosen: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.tuned: dict[tuple[Any, ...], TuneResult] = {}

    def _split(
        self, args: tuple[Any, ...], named: dict[str, Any], way: str = "`{}(…, {})`"
    ) -> tuple[Kernel, dict[str, Any], tuple[Any, ...]]:
        given = {**dict(zip(self.signature.params, args)), **named}
        if not any(name in given for name in self.tuned_constants):
            named.update(self._best(given))
        return super()._split(args, named, way)

    def _call(self, *args: Any, **named: Any) -> Any:
        kernel, _, rest = self._split(args, named)
        return kernel(*rest, **named)

    def _best(self, given: dict[str, Any]) -> dict[str, Any]:
        values = {**given, **self._out_arrays(given.get("out"), given)} if "out" in given else given
        key = self._key_of(values)
        if key not in self._chosen:
            self._check_key()
            args = {name: value for name, value in given.items() if name not in _OPTIONS}
            found = tune_function(self.kernel, self._configs, args, {}, None)
            if not found.ranked:
                raise Error(f"no combination of `{self.__name__}` is right\n{found}")
            self.tuned[key] = found
            self._chosen[key] = found.parameters or {}
        return self._chosen[key]

    def _key_of(self, values: dict[str, Any]) -> tuple[Any, ...]:
        """The GPU, element types, constants that are given, and what `key` names."""
        signature = self.signature
        known = {name: values.get(name) for name in signature.params}
        mine = list(known.values())
        types = [getattr(each, "dtype", None) for each in mine]
        constants = [repr(known[name]) for name in signature.constants]
        for name, tensor in signature.tensors.items():
            known.update(zip(tensor.extents, getattr(known[name], "shape", ())))
        asked = [known.get(name) for name in self._key]
        asked = [tuple(each.shape) if hasattr(each, "shape") else each for each in asked]
        return (_core.gpu_number(mine), *types, *constants, *asked)

    def _check_key(self) -> None:
        names = [*self.signature.params, *sorted(self.signature.extent_names())]
        for name in self._key:
            if name not in names:
                raise ArgumentError(
                    f"`key` of `{self.__name__}` has {name!r}: expected names of its parameters and "
                    f"extents, {', '.join(names)}"
                )


def autotune(
    *, configs: Configs, key: str | Iterable[str] = ()
) -> Callable[[KernelFunction], AutotunedKernel]:
    """Above `@ww.kernel`: calls choose constants by trying `configs`, once for each value of `key`.

    `configs` are values for each constant, `{"BLOCK": [64, 128]}`, or a list of combinations. `key`
    names extents and parameters: a call with another value, other element types or on another GPU
    tries again. The first call runs every combination on copies of the arrays that the kernel writes.
    A call that gives these constants itself tries nothing.
    """

    rows = _configs(configs)

    def make(kernel: KernelFunction) -> AutotunedKernel:
        if isinstance(kernel, KernelFunction):
            return AutotunedKernel(kernel, rows, key)
        raise ArgumentError(
            f"`ww.autotune` was given {type(kernel).__name__}: expected a kernel; "
            "it stands above `@ww.kernel`"
        )

    return make
