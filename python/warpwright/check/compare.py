# SPDX-License-Identifier: Apache-2.0
"""The same launch in Triton's interpreter, on copies: where the two leave other values."""

from __future__ import annotations

import contextlib
import copy
import functools
import multiprocessing
import sys
from typing import Any, Iterator

from ..errors import Error
from .driver import Launch
from .findings import ADVICE, CheckFinding
from .memory import Memory, Place, caller, is_torch

# A value may differ by that much of the largest of its tensor, by the bytes of an element: sums are
# in another order, and exponentials are approximate.
_TOLERANCES = {1: 0.15, 2: 2e-2, 4: 1e-3, 8: 1e-9}


class Comparison:
    """Made before the launch, asked after it."""

    def __init__(self, launch: Launch, memory: Memory) -> None:
        if launch.is_gluon or launch.fn is None:
            raise Error("`--compare`: Triton's interpreter runs kernels of `@triton.jit` alone")
        torch = sys.modules.get("torch")
        if torch is None or not hasattr(torch.Tensor, "untyped_storage"):
            raise Error("`--compare`: Triton's interpreter needs PyTorch 2 or later")
        self.launch, self.memory = launch, memory
        self.before = self._copies(launch.values)

    def findings(self) -> list[CheckFinding]:
        """In a child process: the interpreter leaves Triton's language changed, and may crash."""
        fork = multiprocessing.get_context("fork")
        receiver, sender = fork.Pipe(duplex=False)
        child = fork.Process(target=lambda: sender.send(self._answer()))
        child.start()
        sender.close()
        found = "it crashed"
        with contextlib.suppress(EOFError):
            found = receiver.recv()
        child.join()
        if isinstance(found, str):
            raise Error(f"Triton's interpreter does not run `{self.launch.name}`: {found}")
        return found

    def _answer(self) -> list[CheckFinding] | str:
        sys.modules["torch"].set_num_threads(1)  # those of the parent are not here
        try:
            return list(self._differences())
        except BaseException as error:
            return f"{type(error).__name__}: {error}"

    def _differences(self) -> Iterator[CheckFinding]:
        after = self._copies(self.before)
        with self.memory.paused():
            writes = self._interpret(after)
            for name, wanted in after.items():
                seen = self.launch.values[name]
                for at in _differing(seen, wanted)[:1] if is_torch(seen) else ():
                    at = tuple(at.tolist())
                    one, other = seen[at].item(), wanted[at].item()
                    here = wanted[at].data_ptr()
                    places = (place for place, given in reversed(writes) if (given == here).any())
                    yield CheckFinding(
                        kernel=self.launch.name,
                        check="compare",
                        message=f"{one} on the virtual GPU, {other} in Triton's interpreter",
                        place=next(places, None),
                        program=(0, 0, 0),
                        tensor=f"{name}[{', '.join(map(str, at))}]",
                        advice=ADVICE["compare"],
                    )

    def _copies(self, values: dict[str, Any]) -> dict[str, Any]:
        """Tensors that share memory share their copy, too."""
        from torch.utils._pytree import tree_map

        memo: dict[int, Any] = {}
        with self.memory.paused():
            return tree_map(
                lambda each: copy.deepcopy(each.detach(), memo) if is_torch(each) else each, values
            )

    def _interpret(self, values: dict[str, Any]) -> list[tuple[Place | None, Any]]:
        """Runs it; the lines that wrote, each with the addresses that it was given."""
        from triton.runtime.interpreter import InterpretedFunction, InterpreterBuilder
        from triton.runtime.jit import JITFunction

        writes: list[tuple[Place | None, Any]] = []

        def noting(store: Any) -> Any:
            def noted(builder: Any, *args: Any, **options: Any) -> Any:
                writes.extend((caller(), each.data) for each in args if hasattr(each, "data"))
                return store(builder, *args, **options)

            return noted

        for name in ("create_masked_store", "create_store", "create_atomic_rmw"):
            if store := getattr(InterpreterBuilder, name, None):
                setattr(InterpreterBuilder, name, noting(store))
        # What the kernel calls is interpreted, too.
        made = functools.cache(lambda each: InterpretedFunction(each.fn))
        JITFunction.__call__ = lambda self, *args, **options: made(self)(*args, **options)
        grid = (self.launch.grid[0] // self.launch.ctas, *self.launch.grid[1:])
        made(self.launch.fn)[grid](**values)
        return writes


def _differing(seen: Any, wanted: Any) -> Any:
    """The indices of elements that differ by more than rounding."""
    if not seen.is_floating_point():
        return (seen != wanted).nonzero()
    one, other = seen.detach().double(), wanted.double()
    finite = other[other.isfinite()].abs()
    scale = max(1e-6, float(finite.max())) if len(finite) else 1e-6
    tolerance = _TOLERANCES[seen.element_size()] * scale
    return (~one.isclose(other, rtol=0, atol=tolerance, equal_nan=True)).nonzero()
