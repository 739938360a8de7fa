# SPDX-License-Identifier: Apache-2.0
"""The parameters of a decorated kernel, as far as calls choose what is compiled.

A parameter `T.constexpr` is a constant. A `ww.Tensor[...]` without an element type, or with several,
has that of the array; an extent with the name of a constant gives the constant its value.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from . import _core
from .arrays import hint_for
from .errors import ArgumentError
from .lang.symbols import text_of
from .source_files import parameters


@dataclass
class Tensor:
    """A parameter annotated `ww.Tensor[...]`."""

    extents: list[Any]  # numbers, and names
    is_open: bool  # the element type is that of the array, and is one
    types: tuple[str, ...] = ()  # of these; none: any


@dataclass
class Signature:
    params: list[str]
    constants: list[str] = field(default_factory=list)
    defaults: frozenset[str] = frozenset()  # parameters that have one
    tensors: dict[str, Tensor] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)  # the last words of annotations: "int32"

    @property
    def open_tensors(self) -> list[str]:
        return [name for name, tensor in self.tensors.items() if tensor.is_open]

    def extent_names(self) -> frozenset[str]:
        """Names in quotes, which the kernel's body knows."""
        extents = [each for tensor in self.tensors.values() for each in tensor.extents]
        return frozenset(each for each in extents if isinstance(each, str))

    def shape_constants(self) -> list[str]:
        """Constants that are extents of arrays."""
        extents = [each for tensor in self.tensors.values() for each in tensor.extents]
        return [name for name in self.constants if name in extents]

    @property
    def is_fixed(self) -> bool:
        """Whether there is one kernel, whatever it is called with."""
        return not self.constants and not self.open_tensors

    def choices(self, arrays: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """What arrays decide besides the constants that are given: types, and extents."""
        out: dict[str, Any] = {}
        for name, tensor in self.tensors.items():
            if name not in arrays:
                continue
            if tensor.is_open:
                out[name] = _dtype_name(arrays[name], name, tensor.types)
            for extent, size in zip(tensor.extents, getattr(arrays[name], "shape", ())):
                if extent in self.constants and extent not in given:
                    _set_extent(out, extent, int(size), name)
        return out


def _set_extent(out: dict[str, Any], extent: str, size: int, name: str) -> None:
    if out.setdefault(extent, size) != size:
        raise ArgumentError(
            f"`{extent}` is {out[extent]} by another array: `{name}` has an extent of {size} for it"
        )


def _dtype_name(array: Any, name: str, types: tuple[str, ...]) -> str:
    dtype = getattr(array, "dtype", None)
    if dtype is None:
        raise ArgumentError(f"`{name}` was given {type(array).__name__}: expected an array")
    its_name = getattr(dtype, "name", None) or str(dtype).removeprefix("torch.")
    if types and its_name not in types:
        raise ArgumentError(
            f"`{name}` was given an array of {its_name}: expected {' or '.join(types)}"
            + hint_for(its_name, types)
        )
    return its_name


def read_signature(node: ast.FunctionDef, values: dict[str, Any]) -> Signature:
    """Of a function's `def`; `values` are those of the names around it."""
    out = Signature([each.arg for each in parameters(node)], defaults=_defaults(node.args))
    for each in parameters(node):
        annotation = _unquoted(each.annotation)
        out.types[each.arg] = ast.unparse(annotation).split(".")[-1] if annotation else ""
        if out.types[each.arg] == "constexpr":
            out.constants.append(each.arg)
        elif (parts := _tensor_parts(annotation)) is not None:
            out.tensors[each.arg] = _read_tensor(parts, values)
    return out


def _defaults(args: ast.arguments) -> frozenset[str]:
    by_position = [*args.posonlyargs, *args.args]
    named = [each for each, value in zip(args.kwonlyargs, args.kw_defaults) if value is not None]
    first = len(by_position) - len(args.defaults)
    return frozenset(each.arg for each in (*by_position[first:], *named))


def _unquoted(annotation: ast.expr | None) -> ast.expr | None:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return ast.parse(annotation.value, mode="eval").body
    return annotation


def _tensor_parts(annotation: ast.expr | None) -> list[ast.expr] | None:
    """Of `ww.Tensor[...]` and `Annotated[ww.Tensor, ...]`, what describes the tensor."""
    if not isinstance(annotation, ast.Subscript):
        return None
    index = annotation.slice
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    if _last_word(annotation.value) == "Tensor":
        return parts
    is_annotated = _last_word(annotation.value) == "Annotated" and _last_word(parts[0]) == "Tensor"
    return parts[1:] if is_annotated else None


def _last_word(node: ast.expr) -> str:
    return ast.unparse(node).split(".")[-1]


def _read_tensor(nodes: list[ast.expr], values: dict[str, Any]) -> Tensor:
    parts = [_value_of(each, values) for each in nodes]
    last = parts[-1] if parts else None
    if isinstance(last, (set, frozenset, tuple, list)):
        return Tensor(parts[:-1], True, tuple(sorted(_type_text(each) for each in last)))
    is_extent = isinstance(last, int) or (isinstance(last, str) and last not in _core.dtype_names())
    return Tensor(parts, True) if is_extent else Tensor(parts[:-1], False)


def _type_text(value: Any) -> str:
    try:
        return text_of(value).strip("'")
    except TypeError:
        return repr(value)


def _value_of(node: ast.expr, values: dict[str, Any]) -> Any:
    """None where Python cannot tell; the compiler then says what is wrong."""
    if isinstance(node, ast.Constant):
        return node.value
    try:
        return eval(compile(ast.Expression(node), "<annotation>", "eval"), dict(values))
    except Exception:
        return None
