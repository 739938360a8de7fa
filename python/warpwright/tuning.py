# SPDX-License-Identifier: Apache-2.0
"""Choosing the parameters of a kernel."""

from __future__ import annotations

import html
import json
import os
import sys
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence, Union, overload

from . import _core
from .decorator import KernelFunction
from .errors import ArgumentError
from .kernels import Kernel, _read_target, compile
from .lang.symbols import text_of
from .sweeps import RayWorkers, WorkersLike, workers_of

_BAR_WIDTH = 40
_SHARD_SIZE = 4  # combinations; the ranking does not depend on it

# Values for each constant, or the combinations themselves.
Configs = Union[Mapping[str, Iterable[Any]], Iterable[Mapping[str, Any]]]


class Question(NamedTuple):
    """What is tried, in the words of the command line."""

    path: str
    kernel: str
    spaces: list[str]
    wheres: list[str]
    args: list[str]
    expects: list[str]
    target: str
    device: str
    text: str  # of the file, which a worker may not have


class Made(NamedTuple):
    """A combination of a function's constants that was tried, and what was compiled for it."""

    config: dict[str, Any]
    kernel: Kernel


class TuneResult:
    """Every combination that was tried: the right ones ranked, the others with the reason."""

    def __init__(
        self, path: str, target: str, text: str, data: str, made: dict[str, Made] | None = None
    ):
        self._path = path
        self._target = target
        self._made = made or {}
        self.text = text
        self.data: dict[str, Any] = json.loads(data)

    @property
    def ranked(self) -> list[dict[str, Any]]:
        """The best first: `kernel`, `parameters`, `time_us` on a GPU, `estimate` elsewhere, …"""
        return self.data["ranked"]

    @property
    def dropped(self) -> list[dict[str, Any]]:
        """Combinations that do not compile, fail, or compute something else."""
        return self.data["dropped"]

    @property
    def parameters(self) -> dict[str, Any] | None:
        """Of the best one; None if no combination is right."""
        if not self.ranked:
            return None
        best = self.ranked[0]
        made = self._made.get(best["kernel"])
        return dict(made.config) if made else best["parameters"]

    @property
    def best(self) -> Kernel | None:
        """The best kernel, compiled; None if no combination is right."""
        if not self.ranked:
            return None
        expression = self.ranked[0]["kernel"]
        if expression in self._made:
            return self._made[expression].kernel
        return compile(self._path, expression, target=self._target)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<TuneResult: {len(self.ranked)} right, {len(self.dropped)} dropped>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


Progress = Union[bool, Callable[[int, int], None], None]


@overload
def tune(
    path: KernelFunction,
    space: Configs,
    *,
    args: Mapping[str, Any] | Sequence[Any],
    expect: Mapping[str, Any] = ...,
    progress: Progress = None,
) -> TuneResult: ...
@overload
def tune(
    path: str | os.PathLike[str],
    kernel: str,
    space: Mapping[str, str | Iterable[Any]],
    *,
    where: Iterable[str] = (),
    args: Mapping[str, Any] | None = None,
    expect: Iterable[str] = (),
    target: str = "auto",
    device: str = "auto",
    workers: WorkersLike | None = None,
    progress: Progress = None,
) -> TuneResult: ...


def tune(
    path: Any,
    kernel: Any = None,
    space: Any = None,
    *,
    where: Iterable[str] = (),
    args: Any = None,
    expect: Any = (),
    target: str = "auto",
    device: str = "auto",
    workers: WorkersLike | None = None,
    progress: Progress = None,
) -> TuneResult:
    """Compiles, runs and ranks every combination of a kernel's parameters.

    `kernel` has gaps, `"build(tile=?)"`, and `space` the values for them: `{"tile": [64, 128]}`, or a
    range as `--space` has it, `{"tile": "32..128*2"}`. `where`, `args` and `expect` are what the
    options of `warpwright tune` take. `progress` is called with the combinations done and in all;
    True draws a bar, None draws one on a terminal.

    `workers` spreads the combinations: a number of local processes, which use the virtual GPU;
    "gpus", a process for each GPU; "ray", the caller's cluster, on its GPUs with `device="cuda"`, else
    on virtual ones. The ranking on the virtual GPU does not depend on it.

    A `@ww.kernel` is tuned for arrays: `ww.tune(f, {"BLOCK": [64, 128]}, args=(a, b))`, or with a list
    of combinations, `[{"BLOCK": 64, "STAGES": 2}, …]`. It runs where the arrays are, on copies of
    those that it writes; `expect` has what they must be then, `{"B": 2 * a}`.
    """
    if isinstance(path, KernelFunction):
        options = {"where": where, "target": target, "device": device, "workers": workers}
        for name, value in options.items():
            if value not in ((), "auto", None):
                raise ArgumentError(
                    f"`{name}` is {value!r}: it is for kernels of files; a function has its own "
                    "target, runs where its arrays are, and tries what `space` has"
                )
        if expect and not isinstance(expect, Mapping):
            raise ArgumentError(
                f"`expect` is {expect!r}: expected arrays by the names of a function's parameters, "
                '`{"B": 2 * a}`'
            )
        from .autotuning import tune_function  # noqa: PLC0415  which needs this module

        values = kernel if space is None else space
        return tune_function(path, values, args or (), dict(expect), _progress(progress))
    if kernel is None or space is None:
        raise ArgumentError("`ww.tune` of a file needs `kernel`, an expression with gaps, and `space`")
    name = os.fspath(path)
    spaces = [f"{axis}={values_text(axis, values)}" for axis, values in space.items()]
    specs = [f"{param}={value}" for param, value in (args or {}).items()]
    target = _read_target(target)
    given = "" if target == "auto" else target
    show = _progress(progress)
    question = Question(
        name,
        kernel,
        spaces,
        list(where),
        specs,
        list(expect),
        given,
        device,
        _core.source_text(name),
    )
    if workers is None:
        found = _core.tune(_core.Question(*question), show)
    else:
        found = _tune_in_shards(question, workers, show)
    result = TuneResult(name, target, *found)
    if show is not None:
        show(result.data["tried"], result.data["tried"])
    return result


def _tune_in_shards(
    question: Question, wish: WorkersLike, show: Callable[[int, int], None] | None
) -> tuple[str, str]:
    question = question._replace(device=_device_of_workers(wish, question.device))
    total = _core.tune_size(_core.Question(*question))
    numbers = list(range(total))
    shards = [(question, numbers[at : at + _SHARD_SIZE]) for at in range(0, total, _SHARD_SIZE)]
    workers = RayWorkers(gpus=1) if (wish, question.device) == ("ray", "cuda") else workers_of(wish)
    trials = [""] * len(shards)
    done = 0
    for at, saved in workers.run("warpwright.tuning:try_shard", shards):
        if show is not None:
            show(done, total)
        done += len(shards[at][1])
        trials[at] = saved
    return _core.tune_whole(_core.Question(*question), trials)


def try_shard(shard: tuple[Question, list[int]]) -> str:
    """The task of a worker: some combinations, tried."""
    question, numbers = shard
    return _core.tune_part(_core.Question(*question), numbers)


def _device_of_workers(wish: WorkersLike, device: str) -> str:
    if wish == "gpus":
        if device == "sim":
            raise ArgumentError('`workers` is "gpus" with `device="sim"`: expected a number')
        return "cuda"
    if isinstance(wish, int) and device == "cuda":
        raise ArgumentError(
            f'`workers` is {wish} with `device="cuda"`: kernels side by side on a GPU cannot be '
            'timed; "gpus" starts one process for each'
        )
    return "sim" if device == "auto" else device


def values_text(axis: str, values: str | Iterable[Any]) -> str:
    if isinstance(values, str):
        return values
    try:
        return ",".join(text_of(value) for value in values)
    except TypeError as why:
        raise ArgumentError(f"a value of `{axis}` cannot be tried: {why}") from None


def _progress(wish: Any) -> Callable[[int, int], None] | None:
    if callable(wish):
        return wish
    is_shown = sys.stderr.isatty() if wish is None else bool(wish)
    return draw_bar if is_shown else None


def draw_bar(done: int, total: int) -> None:
    filled = _BAR_WIDTH * done // max(total, 1)
    end = "\n" if done >= total else ""
    sys.stderr.write(f"\r[{'#' * filled:<{_BAR_WIDTH}}] {done} of {total}{end}")
    sys.stderr.flush()
