# SPDX-License-Identifier: Apache-2.0
"""A session: while it lasts, every launch of Triton runs on the virtual GPU, checked."""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import importlib.util
import json
import math
import sys
import time
import zlib
from dataclasses import dataclass, field
from typing import Any, Callable
from unittest import mock

from ..errors import ArgumentError, Error
from ..tuning import draw_bar
from .compare import Comparison
from .driver import TARGETS, Launch, Tuning, virtual_gpu
from .findings import Findings, findings_of, in_tritons_words
from .memory import Memory
from .torch_cuda import cuda_as_cpu


class StoppedError(Error):
    """A kernel that did not come to its end: the program cannot go on with its results."""


def _option(default: Any, text: str, **more: Any) -> Any:
    """A field of `Options` that the command and the plugin of pytest have as an option."""
    return field(default=default, metadata={"help": text, **more})


@dataclass
class Options:
    target: str = _option("sm_90a", "what Triton compiles for", choices=list(TARGETS))
    only: str = _option("", "checks by name: race,uninit", metavar="CHECKS")
    strict: bool = _option(False, "findings in code that Triton made count, too")
    all_configs: bool = _option(False, "run every configuration of autotuned kernels")
    compare: bool = _option(False, "compare with Triton's interpreter")
    blocks: int = _option(0, "run N programs of each launch; 0: all", metavar="N")
    time: float = _option(300.0, "of a launch; 0: no limit", metavar="SECONDS")
    baseline: str = _option("", "say nothing of the findings in it", metavar="FILE")

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            known = ", ".join(TARGETS)
            raise ArgumentError(f"`target` is {self.target!r}: expected one of {known}")
        if self.blocks < 0 or self.time < 0:
            raise ArgumentError("`blocks` and `time` are negative: expected 0 or more")


class Session(contextlib.ExitStack):
    """`with Session(target="sm_80") as session: ...`; `session.findings` has what was found.

    The options are those of `Options`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = Options(**options)
        self.findings = Findings()
        if self.options.baseline:
            self.findings.read_baseline(self.options.baseline)
        self.memory = Memory()
        self.awaited: list[int] = []  # memory that the launch before wrote
        self.is_stopped = False  # a kernel has not come to its end

    def __enter__(self) -> Session:
        if importlib.util.find_spec("triton") is None:
            raise Error("Triton is not installed: pip install 'warpwright[check]'")
        tuning, target = Tuning(self.options.all_configs), self.options.target
        self.enter_context(virtual_gpu(self.memory, target, tuning, self.run))
        _when_torch_is_there(self, lambda: cuda_as_cpu(self.memory, target))
        return self

    @property
    def status(self) -> int:
        """That of the command: 1 with findings, 0 without, 2 where a launch was not run to its end."""
        return 1 if self.findings.counted(self.options.strict) else 2 if self.is_stopped else 0

    def run(self, launch: Launch) -> None:
        """Runs a launch of Triton's and keeps what was found."""
        options = self.options
        before = Comparison(launch, self.memory) if options.compare else None
        blocks = self._blocks(launch)
        sums = {block.address: _sum(block) for block in blocks}
        text = launch.kernel.placed.launch(
            launch.grid,
            launch.block,
            (launch.ctas, 1, 1) if launch.ctas > 1 else None,
            launch.metadata.shared,
            launch.args,
            [self._memory(launch, block) for block in blocks],
            self.awaited if getattr(launch.metadata, "launch_pdl", False) else [],
            # Without bounds and space these would trap, and a deadlock is a misused barrier.
            options.only and f"{options.only},bounds,space,barrier",
            f"seconds={options.time}" if options.time else "",
            options.blocks,
            _progress() if sys.stderr.isatty() else None,
        )
        data = json.loads(text)
        self.awaited = [block.address for block in blocks if _sum(block) != sums[block.address]]
        self.findings.launches += 1
        if (seen := data["schedules"]) and seen["problem"]:
            where = f"`{launch.name}` in schedule {seen['run'][-1]}"
            self.findings.notes[f"{where}: {seen['problem']}"] = None
        found = findings_of(data, launch)
        wanted = {*options.only.split(","), "trap", "hang"}
        self.findings.add([each for each in found if not options.only or each.check in wanted])
        self._end(launch, data, blocks)
        # The interpreter would write outside of tensors, too.
        is_safe = not any(row["check"] in ("bounds", "space") for row in data["findings"])
        if before is not None and is_safe and not data["blocks_left_out"]:
            self.findings.add(before.findings())

    def _end(self, launch: Launch, data: dict[str, Any], blocks: list) -> None:
        left_out, outcome = data["blocks_left_out"], data["outcome"]
        sys.stdout.write(data["printed"])
        if left_out:
            programs = f"{math.prod(launch.grid)} programs of `{launch.name}`"
            self.findings.notes[f"not covered: {left_out} of {programs} (`--blocks`)"] = None
        for block in blocks:  # what the others would have written is defined, too
            if left_out or block.undefined is not None and not block.undefined.any():
                block.undefined = None
        if outcome == "finished":
            return
        self.is_stopped = True
        text = in_tritons_words(outcome, launch)
        if "limit" in outcome.split(":")[0]:
            advice = "a larger `--time`, a smaller problem or `--blocks` help"
            is_hang = "no thread can go on" in outcome
            text = "hangs" if is_hang else f"was not run to its end: {text}; {advice}"
        raise StoppedError(f"`{launch.name}` {text}")

    # A tensor of addresses leads to any other one.
    def _blocks(self, launch: Launch) -> list:
        blocks, live = launch.blocks(), self.memory.live()
        if "i64" in launch.kinds or any(view.width == 8 for view in launch.views):
            blocks |= set(live)
        return sorted(blocks, key=lambda block: block.address)

    @staticmethod
    def _memory(launch: Launch, block: Any) -> tuple[int, int, int, int, str]:
        """As the virtual GPU takes it."""
        names = dict.fromkeys(f"`{view.name}`" for view in launch.views if view.block is block)
        name = ", ".join(names) or f"a tensor made at {block.place or 'host'}"
        if block in launch.scratch:
            name = "scratch memory of the launch"
        undefined = 0 if block.undefined is None else block.undefined.ctypes.data
        return block.address, block.data, block.size, undefined, name


def _progress() -> Callable[[int, int], Any]:
    """A bar on the terminal for a launch that takes more than a second."""
    begin = time.monotonic()
    return lambda done, of: time.monotonic() - begin > 1 and draw_bar(done, of)


def _sum(block: Any) -> int:
    return zlib.crc32((ctypes.c_char * block.size).from_address(block.data))


def _when_torch_is_there(stack: contextlib.ExitStack, enter: Callable[[], Any]) -> None:
    """Enters a context as soon as the program has imported torch."""
    waiting, run_import = [enter], builtins.__import__

    def watched_import(*args: Any, **options: Any) -> Any:
        try:
            return run_import(*args, **options)
        finally:
            torch = sys.modules.get("torch")
            if waiting and torch and not getattr(torch.__spec__, "_initializing", False):
                stack.enter_context(waiting.pop()())

    stack.enter_context(mock.patch("builtins.__import__", watched_import))
    watched_import("sys")  # torch may be there


def run(function: Callable, *args: Any, **options: Any) -> Session:
    """Calls a function that launches kernels; the session has the findings."""
    with Session(**options) as session, contextlib.suppress(StoppedError):
        function(*args)
    return session
