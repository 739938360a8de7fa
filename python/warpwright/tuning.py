# SPDX-License-Identifier: Apache-2.0
"""Choosing the parameters of a kernel."""

from __future__ import annotations

import html
import json
import os
import sys
from typing import Any, Callable, Iterable, Mapping

from . import _core
from .errors import ArgumentError
from .kernels import Kernel, _read_target, compile
from .lang.symbols import text_of

_BAR_WIDTH = 40


class TuneResult:
    """Every combination that was tried: the right ones ranked, the others with the reason."""

    def __init__(self, path: str, target: str, text: str, data: str):
        self._path = path
        self._target = target
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
        return self.ranked[0]["parameters"] if self.ranked else None

    @property
    def best(self) -> Kernel | None:
        """The best kernel, compiled; None if no combination is right."""
        if not self.ranked:
            return None
        return compile(self._path, self.ranked[0]["kernel"], target=self._target)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<TuneResult: {len(self.ranked)} right, {len(self.dropped)} dropped>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


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
    progress: bool | Callable[[int, int], None] | None = None,
) -> TuneResult:
    """Compiles, runs and ranks every combination of a kernel's parameters.

    `kernel` has gaps, `"build(tile=?)"`, and `space` the values for them: `{"tile": [64, 128]}`, or a
    range as `--space` has it, `{"tile": "32..128*2"}`. `where`, `args` and `expect` are what the
    options of `warpwright tune` take. `progress` is called with the combinations done and in all;
    True draws a bar, None draws one on a terminal.
    """
    name = os.fspath(path)
    spaces = [f"{axis}={_values_text(axis, values)}" for axis, values in space.items()]
    specs = [f"{param}={value}" for param, value in (args or {}).items()]
    target = _read_target(target)
    given = "" if target == "auto" else target
    show = _progress(progress)
    found = _core.tune(
        name, kernel, spaces, list(where), specs, list(expect), given, device, show
    )
    result = TuneResult(name, target, *found)
    if show is not None:
        show(result.data["tried"], result.data["tried"])
    return result


def _values_text(axis: str, values: str | Iterable[Any]) -> str:
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
    return _draw_bar if is_shown else None


def _draw_bar(done: int, total: int) -> None:
    filled = _BAR_WIDTH * done // max(total, 1)
    end = "\n" if done >= total else ""
    sys.stderr.write(f"\r[{'#' * filled:<{_BAR_WIDTH}}] {done} of {total}{end}")
    sys.stderr.flush()
