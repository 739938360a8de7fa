# SPDX-License-Identifier: Apache-2.0
"""`@ww.kernel`: a function whose text is compiled when it is first called."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any, Callable, overload

from ._core import BoundCall
from .closure import Captured, capture
from .errors import ArgumentError
from .kernels import Kernel, _read_target, compile_source
from .lang.symbols import text_of
from .reports import Explanation, Report
from .source import Source


class Tensor:
    """The annotation of an array: extents, then the element type.

    `ww.Tensor["n", 16, "float32"]`: an extent is a number, or a name for one known at the call.
    """

    def __class_getitem__(cls, item: Any) -> Any:
        parts = item if isinstance(item, tuple) else (item,)
        return types.GenericAlias(cls, parts)


class KernelFunction:
    """A kernel as it was written. Calls compile it, once for each choice of its constants."""

    __name__: str
    __qualname__: str

    def __init__(self, function: types.FunctionType, scope: dict[str, Any], target: str):
        functools.update_wrapper(self, function)
        self.__warpwright_function__ = function
        self._scope = scope
        self._target = target
        self._captured: Captured | None = None
        self._made: dict[str, Kernel] = {}
        self._only: Kernel | None = None  # where there are no constants

    def specialize(self, **constants: Any) -> Kernel:
        """The kernel for these values of its `T.constexpr` parameters."""
        if self._captured is None:
            self._captured = capture(self.__warpwright_function__, self._scope)
        expression = self._expression(self._captured, constants)
        if expression not in self._made:
            source = Source(
                self._captured.path,
                self._captured.text,
                expression,
                self._target,
                self._captured.prelude,
            )
            self._made[expression] = compile_source(source)
        return self._made[expression]

    def _expression(self, captured: Captured, constants: dict[str, Any]) -> str:
        unknown = [name for name in constants if name not in captured.constants]
        if unknown:
            known = ", ".join(captured.constants) or "none"
            raise ArgumentError(
                f"`{self.__name__}` has no constant `{unknown[0]}`: its constants are {known}"
            )
        if not captured.constants:
            return self.__name__
        try:
            texts = [f"{name}={text_of(value)}" for name, value in constants.items()]
        except TypeError as why:
            raise ArgumentError(f"a constant of `{self.__name__}`: {why}") from None
        return f"{self.__name__}.specialize({', '.join(texts)})"

    def _split(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Kernel, list, dict]:
        """The kernel for the constants among the arguments, and the other arguments."""
        if self._captured is None:
            self._captured = capture(self.__warpwright_function__, self._scope)
        constants = self._captured.constants
        given = {name: named.pop(name) for name in constants if name in named}
        rest = []
        for name, value in zip(self._captured.params, args):
            if name in constants:
                given[name] = value
            else:
                rest.append(value)
        rest += args[len(self._captured.params) :]
        return self.specialize(**given), rest, named

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self._only is not None:
            return self._only(*args, **named)
        kernel, rest, others = self._split(args, named)
        if self._captured is not None and not self._captured.constants:
            self._only = kernel
        return kernel(*rest, **others)

    def bind(self, *args: Any, **named: Any) -> BoundCall:
        """As `Kernel.bind`."""
        kernel, rest, others = self._split(args, named)
        return kernel.bind(*rest, **others)

    def check(self, *args: Any, **named: Any) -> Report:
        """As `Kernel.check`."""
        kernel, rest, others = self._split(args, named)
        return kernel.check(*rest, **others)

    # A kernel without constants is one kernel.

    @property
    def ptx(self) -> str:
        return self.specialize().ptx

    @property
    def cuda(self) -> str:
        return self.specialize().cuda

    @property
    def ir(self) -> str:
        return self.specialize().ir

    @property
    def registers(self) -> int | None:
        return self.specialize().registers

    def explain(self) -> Explanation:
        return self.specialize().explain()

    def __repr__(self) -> str:
        return f"<kernel function {self.__qualname__}>"


@overload
def kernel(function: Callable[..., Any]) -> KernelFunction: ...
@overload
def kernel(*, target: str = "auto") -> Callable[[Callable[..., Any]], KernelFunction]: ...


def kernel(function: Any = None, *, target: str = "auto") -> Any:
    """Makes a kernel of a function, whose text the compiler reads; Python never runs it.

    Values that the function uses from outside are constants of the kernel, taken at the first call.
    """
    scope = _locals_of(sys._getframe(1))
    chosen = _read_target(target)

    def make(given: Any) -> KernelFunction:
        if not isinstance(given, types.FunctionType):
            raise ArgumentError(
                f"`ww.kernel` was given {type(given).__name__}: expected a function"
            )
        return KernelFunction(given, scope, chosen)

    return make if function is None else make(function)


def _locals_of(frame: types.FrameType) -> dict[str, Any]:
    """Local names where a kernel is defined: its annotations may use them. Globals change later."""
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
