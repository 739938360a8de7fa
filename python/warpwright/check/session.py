# SPDX-License-Identifier: Apache-2.0
"""A session: while it lasts, every launch of Triton runs on the virtual GPU, checked."""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import json
import sys
import time
import zlib
from dataclasses import dataclass, field
from typing import Any, Callable
from unittest import mock

from ..errors import ArgumentError, Error
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
    show_progress: bool = False


class Session(contextlib.AbstractContextManager):
    """`with Session(Options()) as session: ...`; `session.findings` has what was found."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        if self.options.target not in TARGETS:
            raise ArgumentError(
                f"`target` is {self.options.target!r}: expected one of {', '.join(TARGETS)}"
            )
        self.findings = Findings()
        self.memory = Memory()
        self.awaited: list[int] = []  # memory that the launch before wrote
        self.is_stopped = False  # a kernel has not come to its end
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> Session:
        tuning = Tuning(self.options.all_configs)
        gpu = virtual_gpu(self.memory, self.options.target, tuning, self.run)
        try:
            self._undo.enter_context(gpu)
        except ImportError as error:
            if (error.name or "").split(".")[0] != "triton":
                raise
            raise Error("Triton is not installed: pip install 'warpwright[check]'") from None
        _when_torch_is_there(self._undo, lambda: cuda_as_cpu(self.memory, self.options.target))
        return self

    def __exit__(self, *error: Any) -> None:
        self._undo.close()

    @property
    def status(self) -> int:
        """That of the command: 1 with findings, 0 without, 2 where a launch was not run to its end."""
        return 1 if self.findings.counted(self.options.strict) else 2 if self.is_stopped else 0

    def run(self, launch: Launch) -> None:
        """Runs a launch of Triton's and keeps what was found."""
        options, before = self.options, None
        if options.compare:
            from .compare import Comparison

            before = Comparison(launch, self.memory)
        blocks = self._blocks(launch)
        sums = {block.address: _sum(block) for block in blocks}
        text = launch.kernel.placed.launch(
            launch.grid,
            launch.block,
            (launch.ctas, 1, 1) if launch.ctas > 1 else None,
            launch.metadata.shared,
            launch.args,
            [
                (b.address, b.data, b.size, b.undefined_data(), self._name(launch, b))
                for b in blocks
            ],
            self.awaited if getattr(launch.metadata, "launch_pdl", False) else [],
            # Without bounds and space these would trap, and a deadlock is a misused barrier.
            options.only and f"{options.only},bounds,space,barrier",
            f"seconds={options.time}" if options.time else "",
            options.blocks,
            _progress(launch.name) if options.show_progress else None,
        )
        data = json.loads(text)
        self.awaited = [block.address for block in blocks if _sum(block) != sums[block.address]]
        self.findings.launches += 1
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
            programs = launch.grid[0] * launch.grid[1] * launch.grid[2]
            self._note(
                f"not covered: {left_out} of {programs} programs of `{launch.name}` (`--blocks`)"
            )
        for block in blocks:
            if left_out:  # what the others would have written
                block.undefined = None
            block.forget_defined()
        if outcome == "finished":
            return
        self.is_stopped = True
        text = in_tritons_words(outcome, launch)
        if "limit" in outcome.split(":")[0]:
            advice = "a larger `--time`, a smaller problem or `--blocks` help"
            is_hang = "no thread can go on" in outcome
            text = "hangs" if is_hang else f"was not run to its end: {text}; {advice}"
        raise StoppedError(f"`{launch.name}` {text}")

    def _note(self, text: str) -> None:
        if text not in self.findings.notes:
            self.findings.notes.append(text)

    # A tensor of addresses leads to any other one.
    def _blocks(self, launch: Launch) -> list:
        blocks = launch.blocks()
        if "i64" in launch.kinds or any(view.width == 8 for view in launch.views):
            blocks |= set(self.memory.live())
        return sorted(blocks, key=lambda block: block.address)

    @staticmethod
    def _name(launch: Launch, block: Any) -> str:
        names = dict.fromkeys(view.name for view in launch.views if view.block is block)
        if block in launch.scratch:
            return "scratch memory of the launch"
        return (
            "`" + "`, `".join(names) + "`" if names else f"a tensor made at {block.place or 'host'}"
        )


def _progress(name: str) -> Callable[[int, int], None]:
    """Says on a line of the terminal how far a launch is, once a second."""
    last = [time.monotonic()]

    def show(done: int, of: int) -> None:
        if time.monotonic() - last[0] > 1:
            last[0] = time.monotonic()
            print(f"\r`{name}`: {done} of {of} programs", end="\r", file=sys.stderr, flush=True)

    return show


def _sum(block: Any) -> int:
    return zlib.crc32((ctypes.c_char * block.size).from_address(block.data))


def _when_torch_is_there(stack: contextlib.ExitStack, enter: Callable[[], Any]) -> None:
    """Enters a context as soon as the program has imported torch."""
    run_import = builtins.__import__

    def enter_if_there() -> None:
        torch = sys.modules.get("torch")
        if torch is not None and not getattr(torch.__spec__, "_initializing", False):
            watch.close()
            stack.enter_context(enter())

    def watched_import(*args: Any, **options: Any) -> Any:
        try:
            return run_import(*args, **options)
        finally:
            enter_if_there()

    watch = stack.enter_context(contextlib.ExitStack())
    watch.enter_context(mock.patch("builtins.__import__", watched_import))
    enter_if_there()


def checking(**options: Any) -> Session:
    """`with checking(target="sm_80") as session:`; the options are those of `Options`."""
    return Session(Options(**options))


def run(function: Callable, *args: Any, **options: Any) -> Session:
    """Calls a function that launches kernels; the session has the findings."""
    with checking(**options) as session:
        with contextlib.suppress(StoppedError):
            function(*args)
    return session
