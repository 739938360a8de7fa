# SPDX-License-Identifier: Apache-2.0
"""The same launch in Triton's interpreter, on copies: where the two leave other values."""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

from ..errors import Error
from .driver import Launch
from .findings import ADVICE, CheckFinding, Place
from .memory import Memory, caller, is_torch

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
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reads)
            with os.fdopen(writes, "wb") as pipe:
                pipe.write(self._answer())
            os._exit(0)
        os.close(writes)
        with os.fdopen(reads, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        found = pickle.loads(answer) if answer else "it crashed"
        if isinstance(found, str):
            raise Error(
                f"`--compare`: Triton's interpreter does not run `{self.launch.name}`: {found}"
            )
        return found

    def _answer(self) -> bytes:
        import torch

        torch.set_num_threads(1)  # those of the parent are not here
        try:
            return pickle.dumps(self._differences())
        except BaseException as error:
            return pickle.dumps(f"{type(error).__name__}: {error}")

    def _differences(self) -> list[CheckFinding]:
        after = self._copies(self.before)
        self._interpret(after, None)
        out = []
        for name, copy in after.items():
            seen = self.launch.values[name]
            if is_torch(seen) and (index := _first_difference(seen, copy)) is not None:
                out.append(self._finding(name, seen, copy, index))
        return out

    def _finding(self, name: str, seen: Any, wanted: Any, index: int) -> CheckFinding:
        again = self._copies(self.before)
        at = [index // _step(seen, d) % seen.shape[d] for d in range(seen.dim())]
        offset = sum(i * stride for i, stride in zip(at, seen.stride()))
        with self.memory.paused():
            address = again[name].data_ptr() + offset * seen.element_size()
        written = self._interpret(again, address)
        path, _, line = written.rpartition(":")
        one, other = seen.flatten()[index].item(), wanted.flatten()[index].item()
        return CheckFinding(
            kernel=self.launch.name,
            check="compare",
            message=f"{one} on the virtual GPU, {other} in Triton's interpreter",
            place=Place(path, int(line), 0) if line else None,
            program=(0, 0, 0),
            tensor=f"{name}[{', '.join(map(str, at))}]",
            advice=ADVICE["compare"],
        )

    def _copies(self, values: dict[str, Any]) -> dict[str, Any]:
        storages: dict[int, Any] = {}

        def copied(value: Any) -> Any:
            if isinstance(value, tuple):
                parts = [copied(each) for each in value]
                return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
            if not is_torch(value):
                return value
            value = value.detach()
            own = value.untyped_storage()
            storage = storages.setdefault(own.data_ptr(), own.clone())
            return value.new_empty(0).set_(
                storage, value.storage_offset(), value.shape, value.stride()
            )

        with self.memory.paused():
            return {name: copied(value) for name, value in values.items()}

    def _interpret(self, values: dict[str, Any], watched: int | None) -> str:
        """Runs it; the line that wrote to the watched address last."""
        grid = (self.launch.grid[0] // self.launch.ctas, *self.launch.grid[1:])
        lines: list[str] = []
        if watched is not None:
            _watch(watched, lines)
        with self.memory.paused():
            _interpreted(self.launch.fn)[grid](**values)
        return lines[-1] if lines else ""


def _step(tensor: Any, dim: int) -> int:
    step = 1
    for extent in tensor.shape[dim + 1 :]:
        step *= extent
    return step


def _first_difference(seen: Any, wanted: Any) -> int | None:
    import torch

    if not seen.is_floating_point():
        differs = seen != wanted
    else:
        tolerance = _TOLERANCES[seen.element_size()]
        one, other = seen.detach().double(), wanted.double()
        finite = other[torch.isfinite(other)].abs()
        scale = float(finite.max()) if finite.numel() else 0.0
        same = (one == other) | (one.isnan() & other.isnan())
        differs = ~(same | ((one - other).abs() <= tolerance * max(scale, 1e-6)))
    found = differs.flatten().nonzero()
    return int(found[0]) if len(found) else None


def _interpreted(fn: Any) -> Any:
    """The kernel as the interpreter has it, and from now on all functions that it may call."""
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    names = [name for name in sys.modules if name.startswith("triton.language")]
    spaces = [fn.fn.__globals__, *(vars(sys.modules[name]) for name in names)]
    made: dict[int, Any] = {}
    for space in spaces:
        for name, value in list(space.items()):
            if not isinstance(value, JITFunction):
                continue
            if id(value) not in made:
                made[id(value)] = InterpretedFunction(value.fn)
                if not any(value.fn.__globals__ is each for each in spaces):
                    spaces.append(value.fn.__globals__)
            space[name] = made[id(value)]
    return InterpretedFunction(fn.fn)


def _watch(address: int, lines: list[str]) -> None:
    """Lists the lines that write to the address from now on."""
    from triton.runtime.interpreter import InterpreterBuilder

    for name in ("create_masked_store", "create_store", "create_atomic_rmw"):
        store = getattr(InterpreterBuilder, name, None)
        if store is not None:
            setattr(InterpreterBuilder, name, _watching(store, address, lines))


def _watching(store: Any, address: int, lines: list[str]) -> Any:
    def watched(self: Any, *args: Any, **options: Any) -> Any:
        handles = [each.data for each in args if hasattr(each, "data")]
        if any((handle == address).any() for handle in handles):
            lines.append(caller())
        return store(self, *args, **options)

    return watched
