# SPDX-License-Identifier: Apache-2.0
"""The layout algebra: values, operations as methods, pictures in notebooks."""

from __future__ import annotations

import json
from typing import Any, Callable

from . import _core
from .errors import ArgumentError, Error, LayoutError

_OPS: dict[str, tuple[str, str]] = {
    name: (arguments, help_line) for name, arguments, help_line in _core.layout_ops()
}

# Operations that give a layout and also say how it was made.
_CHANGE_AND_SAY = ("group", "group_many")


class Layout:
    """Where the elements of a tile live.

    `Layout("S[(8,4,2):(4@laneid,1@laneid,1)]")`, or a named one: `Layout("mma_frag(A,16,float16)")`.
    Every operation of `warpwright layout --op` is a method: one that changes the layout returns a
    new one, one that asks returns the answer. Arguments are joined as `--op` takes them, so
    `layout.slice("0:4,2:6")` and `layout.group(4, 2)` both work. Raises LayoutError.
    """

    def __init__(
        self,
        notation: str | Layout,
        *,
        shape: tuple[int, ...] | None = None,
        dtype: str = "",
        axes: tuple[str, ...] = (),
    ):
        self._axes = tuple(axes)
        self._dtype = dtype
        text = notation.notation if isinstance(notation, Layout) else str(notation)
        data = self._ask(text, _shape_text(shape), [])
        self._data = data
        self._written = text

    def _ask(self, notation: str, shape: str, ops: list[str], form: str = "json") -> Any:
        try:
            out = _core.layout(notation, shape, ops, list(self._axes), self._dtype, form)
        except Error as why:
            raise _layout_error(why) from None
        return json.loads(out) if form == "json" else out

    @property
    def notation(self) -> str:
        return self._data["layout"]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._data["shape"])

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._data["size"]

    @property
    def data(self) -> dict[str, Any]:
        """What `warpwright layout --as json` prints: axes, extents, the place of each element."""
        return self._data

    def table(self) -> str:
        """The elements with their places, as text."""
        return self._ask(self.notation, _shape_text(self.shape), [], "table")

    def svg(self) -> str:
        return self._ask(self.notation, _shape_text(self.shape), [], "svg")

    def _repr_svg_(self) -> str | None:
        # A layout that cannot be enumerated has no picture; its text is shown instead.
        try:
            text = self.svg()
            return text[text.index("<svg") :]
        except LayoutError:
            return None

    def op(self, text: str) -> Any:
        """An operation as `--op` takes it: `"slice:0:4,2:6"`."""
        data = self._ask(self.notation, _shape_text(self.shape), [text])
        if data["answers"] and text.split(":")[0] not in _CHANGE_AND_SAY:
            return data["answers"][0]["answer"]
        out = object.__new__(Layout)
        out._axes, out._dtype = self._axes, self._dtype
        out._data, out._written = data, data["layout"]
        return out

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _OPS:
            raise AttributeError(f"a layout has no operation `{name}`; it has {', '.join(_OPS)}")
        arguments, help_line = _OPS[name]

        def apply(*args: Any) -> Any:
            text = ",".join(_argument_text(each) for each in args)
            return self.op(f"{name}:{text}" if args else name)

        apply.__name__ = name
        apply.__doc__ = f"{help_line}\n\nArguments: {arguments or 'none'}"
        return apply

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_OPS})

    def __matmul__(self, other: Layout) -> Layout:
        """`a @ b`: first b, then a."""
        return self.compose(other)

    def __eq__(self, other: object) -> bool:
        """Whether each element is in the same place."""
        if not isinstance(other, Layout):
            return NotImplemented
        if self._data["size"] != other._data["size"]:
            return False
        return bool(self.equal(other))

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.notation

    def __repr__(self) -> str:
        return f"Layout({self.notation!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.notation, self.shape, self._dtype, self._axes)


def _rebuild(notation: str, shape: tuple[int, ...], dtype: str, axes: tuple[str, ...]) -> Layout:
    return Layout(notation, shape=shape, dtype=dtype, axes=axes)


def _shape_text(shape: tuple[int, ...] | None) -> str:
    return "" if shape is None else ",".join(map(str, shape))


def _argument_text(value: Any) -> str:
    if isinstance(value, Layout):
        return value.notation
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    if isinstance(value, slice):
        return f"{value.start}:{value.stop}"
    if isinstance(value, (int, str)):
        return str(value)
    raise ArgumentError(f"an operation was given {type(value).__name__}: expected numbers or text")


def _layout_error(why: Error) -> LayoutError:
    out = LayoutError(str(why))
    out.kind = why.kind
    return out
