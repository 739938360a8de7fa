# SPDX-License-Identifier: Apache-2.0
"""A session: while it lasts, every launch of Triton runs on the virtual GPU, checked."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import json
import sys
import time
import zlib
from dataclasses import dataclass
from typing import Any, Callable, Iterator

from ..errors import ArgumentError, Error
from .driver import TARGETS, Launch, Tuning, install
from .findings import Findings, findings_of
from .memory import Memory
from .torch_cuda import cuda_as_cpu


class StoppedError(Error):
    """A kernel that did not come to its end: the program cannot go on with its results."""


@dataclass
class Options:
    target: str = "sm_90a"
    only: str = ""  # "race,uninit"; empty: all checks
    strict: bool = False
    all_configs: bool = False
    compare: bool = False
    blocks: int = 0  # programs of a launch that run; 0: all
    time: float = 300  # seconds of a launch; 0: no limit
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
        try:
            self._undo.callback(install(self.memory, self.options.target, tuning, self.run))
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
        counted = [
            *self.findings.list(),
            *(self.findings.list("compiler") if self.options.strict else []),
        ]
        return 1 if counted else 2 if self.is_stopped else 0

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
            launch.shared,
            launch.args,
            [
                (b.address, b.data, b.size, b.undefined_data(), self._name(launch, b))
                for b in blocks
            ],
            self.awaited if launch.is_programmatic else [],
            options.only and f"{options.only},bounds,space",  # without which these would trap
            f"seconds={options.time}" if options.time else "",
            options.blocks,
            _Progress(launch.name) if options.show_progress else None,
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
        if outcome.split(":")[0] in ("trapped", "deadlocked"):
            raise StoppedError(f"`{launch.name}` {outcome}")
        raise StoppedError(
            f"`{launch.name}` was not run to its end: {outcome}; a larger `--time`, a smaller problem or"
            " `--blocks` help"
        )

    def _note(self, text: str) -> None:
        if text not in self.findings.notes:
            self.findings.notes.append(text)

    # A tensor of addresses leads to any other one.
    def _blocks(self, launch: Launch) -> list:
        blocks = launch.blocks()
        addresses = [view for view in launch.views if view.width == 8]
        if addresses or any(kind == "i64" for kind in launch.kinds):
            known = {id(each) for each in blocks}
            blocks += [each for each in self.memory.live() if id(each) not in known]
        return sorted(blocks, key=lambda block: block.address)

    @staticmethod
    def _name(launch: Launch, block: Any) -> str:
        names = dict.fromkeys(view.name for view in launch.views if view.block is block)
        if block in launch.scratch:
            return "scratch memory of the launch"
        return (
            "`" + "`, `".join(names) + "`" if names else f"a tensor made at {block.place or 'host'}"
        )


class _Progress:
    """A line of the terminal that says how far a launch is."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.last = time.monotonic() + 1

    def __call__(self, done: int, of: int) -> None:
        now = time.monotonic()
        if now - self.last > 1 or done == of and self.last != self.last:
            self.last = now
            end = "\r" if done < of else "\n"
            sys.stderr.write(f"\r`{self.name}`: {done} of {of} programs{end}")
            sys.stderr.flush()


def _sum(block: Any) -> int:
    import ctypes

    return zlib.crc32((ctypes.c_char * block.size).from_address(block.data))


def _when_torch_is_there(stack: contextlib.ExitStack, enter: Callable[[], Any]) -> None:
    """Enters a context as soon as the program imports torch, and if it has."""
    if "torch" in sys.modules:
        stack.enter_context(enter())
        return
    finder = _TorchFinder(lambda: stack.enter_context(enter()))
    sys.meta_path.insert(0, finder)
    stack.callback(lambda: finder in sys.meta_path and sys.meta_path.remove(finder))


class _TorchFinder(importlib.abc.MetaPathFinder):
    def __init__(self, then: Callable[[], Any]) -> None:
        self.then = then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            self.then()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


@contextlib.contextmanager
def checking(**options: Any) -> Iterator[Session]:
    """`with checking(target="sm_80") as session:`; the options are those of `Options`."""
    with Session(Options(**options)) as session:
        yield session


def run(function: Callable, *args: Any, **options: Any) -> Session:
    """Calls a function that launches kernels; the session has the findings."""
    with checking(**options) as session:
        with contextlib.suppress(StoppedError):
            function(*args)
    return session
