# SPDX-License-Identifier: Apache-2.0
"""`@ww.kernel`: a function whose text is compiled when it is first called."""

from __future__ import annotations

import functools
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Sequence, overload

from . import _core
from ._core import BoundCall
from .closure import Captured, Origin, capture, origin_at, origin_of
from .errors import ArgumentError
from .kernels import Callee, Kernel, _read_target, compile_source
from .lang.symbols import text_of
from .reports import Explanation, Report
from .signature import Signature
from .source import Source


# What calls and checks take besides parameters.
_OPTIONS = {"out", "check", "debug", "checks", "schedule", "limits"}


class Tensor:
    """The annotation of an array: extents, then the element type.

    `ww.Tensor["n", 16, "float32"]`: an extent is a number, or a name for one known at the call. Without
    an element type, or with a set of them, a call chooses it; an extent with the name of a
    `T.constexpr` parameter is a constant that a call chooses. Type checkers read texts in annotations as
    types: for them it is `Annotated[ww.Tensor, "n", 16, "float32"]`.
    """

    # In kernels, whose text type checkers read, a tensor has what the language gives it.
    if TYPE_CHECKING:
        shape: tuple[Any, ...]
        dtype: Any

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...

    def __class_getitem__(cls, item: Any) -> Any:
        parts = item if isinstance(item, tuple) else (item,)
        return types.GenericAlias(cls, parts)


class KernelFunction(Callee):
    """A kernel as it was written, called as `Kernel` is. Calls compile it, once for each choice of
    constants and types."""

    __name__: str
    __qualname__: str
    tuned_constants: Sequence[str] = ()  # those that calls find by trying

    def __init__(self, function: Any, origin: Origin, target: str):
        super().__init__()
        functools.update_wrapper(self, function)
        self.__name__ = origin.name
        self.__warpwright_function__ = function
        self._origin = origin
        self._target = target
        self._captured: Captured | None = None
        self._made: dict[str, Kernel] = {}

    def specialize(self, **constants: Any) -> Kernel:
        """The kernel for these values of its `T.constexpr` parameters, and these element types of
        arrays that are open: `specialize(A="float16", BLOCK=128)`."""
        return self._specialize(constants, "`{}.specialize({})`")

    def _specialize(self, constants: dict[str, Any], way: str) -> Kernel:
        """`way` is how they are given, for messages: with gaps for this name and for the missing ones."""
        captured = self._capture()
        expression = self._expression(captured, constants)
        missing = [
            name
            for name in captured.signature.constants
            if name not in constants and name not in captured.signature.defaults
        ]
        if missing:
            names = ", ".join(f"`{name}`" for name in missing)
            fix = way.format(self.__name__, ", ".join(f"{name}=…" for name in missing))
            raise ArgumentError(f"`{self.__name__}` was given no value for {names}: write {fix}")
        if expression not in self._made:
            source = Source(
                captured.path,
                captured.text,
                expression,
                self._target,
                captured.prelude,
                captured.module,
                captured.files,
            )
            self._made[expression] = compile_source(source)
        return self._made[expression]

    def _capture(self) -> Captured:
        if self._captured is None:
            self._captured = capture(self._origin)
        return self._captured

    @property
    def signature(self) -> Signature:
        """What calls choose."""
        return self._capture().signature

    def _what(self) -> str:
        return self.__name__

    def chosen_by(self, *args: Any, **named: Any) -> tuple[Kernel, list[Any]]:
        """The kernel that a call with these arguments runs, and its own arguments."""
        kernel, _, rest = self._split(args, named)
        return kernel, kernel._bind(rest, named.pop("out", None), named)

    def _expression(self, captured: Captured, constants: dict[str, Any]) -> str:
        signature = captured.signature
        choices = [*signature.constants, *signature.open_tensors]
        unknown = [name for name in constants if name not in choices]
        if unknown:
            known = ", ".join(choices) or "none"
            raise ArgumentError(
                f"`{self.__name__}` has no constant `{unknown[0]}`: its constants are {known}"
            )
        if signature.is_fixed:
            return self.__name__
        try:
            texts = [f"{name}={text_of(value)}" for name, value in sorted(constants.items())]
        except TypeError as why:
            raise ArgumentError(f"a constant of `{self.__name__}`: {why}") from None
        return f"{self.__name__}.specialize({', '.join(texts)})"

    def _split(
        self, args: tuple[Any, ...], named: dict[str, Any], way: str = "`{}(…, {})`"
    ) -> tuple[Kernel, dict[str, Any], tuple[Any, ...]]:
        """The kernel that the arguments choose, the constants among them, and the others. Takes the
        constants out of `named`."""
        signature = self._capture().signature
        self._check_count(args, signature.params)
        for name in named:  # a handle has another name, that of its buffer
            is_known = name in signature.params or name in _OPTIONS
            if not is_known and "handle" not in signature.types.values():
                raise self._no_parameter(name, signature.params)
        given = {name: named.pop(name) for name in signature.constants if name in named}
        rest = []
        arrays = {name: named[name] for name in signature.tensors if name in named}
        for name, value in zip(signature.params, args):
            if name in given:
                raise ArgumentError(f"`{name}` was given twice")
            if name in signature.constants:
                given[name] = value
            else:
                rest.append(value)
                arrays[name] = value
        chosen = dict(given)
        if not signature.is_fixed:
            arrays.update(self._out_arrays(named.get("out"), arrays))
            chosen.update(signature.choices(arrays, given))
        missing = ", ".join(f"`{name}`" for name in signature.open_tensors if name not in chosen)
        if missing:
            raise ArgumentError(f"`{self.__name__}` was given no argument for {missing}")
        return self._specialize(chosen, way), given, tuple(rest)

    def _out_arrays(self, out: Any, arrays: dict[str, Any]) -> dict[str, Any]:
        """Arrays of `out=`, by the tensors that are not given otherwise."""
        if out is None:
            return {}
        missing = [name for name in self._capture().signature.tensors if name not in arrays]
        return dict(zip(missing, out if isinstance(out, tuple) else (out,)))

    def _call(self, *args: Any, **named: Any) -> Any:
        """A call that the launcher has not learned."""
        kernel, constants, rest = self._split(args, named)
        return kernel.run_for(self, self._call_params(kernel), constants, rest, named)

    def _call_params(self, kernel: Kernel) -> list[_core.CallParam]:
        """The kernel's parameters with the constants in between."""
        signature = self._capture().signature
        others = iter(kernel._call_params)
        return [
            (name, name, False, True) if name in signature.constants else next(others)
            for name in signature.params
        ]

    def bind(self, *args: Any, **named: Any) -> BoundCall:
        """As `Kernel.bind`."""
        kernel, _, rest = self._split(args, named, "`{}.bind(…, {})`")
        return kernel.bind(*rest, **named)

    def check(self, *args: Any, **named: Any) -> Report:
        """As `Kernel.check`."""
        kernel, _, rest = self._split(args, named, "`{}.check(…, {})`")
        return kernel.check(*rest, **named)

    # A kernel whose calls choose nothing is one kernel.

    def _only(self, form: str) -> Any:
        return getattr(self._specialize({}, f"`{{}}.specialize({{}}).{form}`"), form)

    @property
    def ptx(self) -> str:
        return self._only("ptx")

    @property
    def cuda(self) -> str:
        return self._only("cuda")

    @property
    def ir(self) -> str:
        return self._only("ir")

    @property
    def launch(self) -> dict[str, Any]:
        return self._only("launch")

    @property
    def registers(self) -> int | None:
        return self._only("registers")

    def explain(self, **constants: Any) -> Explanation:
        """As `Kernel.explain`, for the kernel that `specialize` gives."""
        return self._specialize(constants, "`{}.explain({})`").explain()

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
    frame = sys._getframe(1)
    scope = _locals_of(frame)
    chosen = _read_target(target)

    def make(given: Any) -> KernelFunction:
        if isinstance(given, types.FunctionType):
            return KernelFunction(given, origin_of(given, scope), chosen)
        # What a decorator below has made of the function, TVM's for instance.
        origin = origin_at(frame, scope)
        if origin is None:
            raise ArgumentError(
                f"`ww.kernel` was given {type(given).__name__}: expected a function"
            )
        return KernelFunction(given, origin, chosen)

    return make if function is None else make(function)


def _locals_of(frame: types.FrameType) -> dict[str, Any]:
    """Local names where a kernel is defined: its annotations may use them. Globals change later."""
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
