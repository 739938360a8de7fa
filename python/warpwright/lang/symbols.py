# SPDX-License-Identifier: Apache-2.0
"""Values that know nothing but the text they were written as."""

from __future__ import annotations

import types
from typing import Any, Callable


class Symbol:
    """A name of the language, or an expression over such names."""

    __slots__ = ("_text", "_roots")

    def __init__(self, text: str, roots: frozenset[str]):
        self._text = text
        self._roots = roots  # names of warpwright.lang that the text uses

    def __repr__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("__"):
            raise AttributeError(name)
        return Symbol(f"{self._text}.{name}", self._roots)

    def __call__(self, *args: Any, **named: Any) -> Any:
        # A decorator leaves the function as it is: the compiler reads the decorator itself.
        if len(args) == 1 and not named and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        parts = [text_of(value) for value in args]
        parts += [f"{name}={text_of(value)}" for name, value in named.items()]
        return self._joined(f"{self._text}({', '.join(parts)})", (*args, *named.values()))

    def __getitem__(self, index: Any) -> Symbol:
        return self._joined(f"{self._text}[{_index_text(index)}]", (index,))

    def __iter__(self) -> Any:
        raise TypeError(f"`{self._text}` has a value inside of kernels only")

    def __neg__(self) -> Symbol:
        return Symbol(f"(-{self._text})", self._roots)

    def _joined(self, text: str, parts: tuple[Any, ...]) -> Symbol:
        return Symbol(text, self._roots.union(*map(roots_of, parts)))


def _operator(sign: str, is_reflected: bool) -> Callable[[Symbol, Any], Symbol]:
    def apply(self: Symbol, other: Any) -> Symbol:
        a, b = text_of(self), text_of(other)
        text = f"({b} {sign} {a})" if is_reflected else f"({a} {sign} {b})"
        return self._joined(text, (other,))

    return apply


for _name, _sign in {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "floordiv": "//", "truediv": "/", "mod": "%",
}.items():  # fmt: skip
    setattr(Symbol, f"__{_name}__", _operator(_sign, False))
    setattr(Symbol, f"__r{_name}__", _operator(_sign, True))


def roots_of(value: Any) -> frozenset[str]:
    """The names of the language in a value."""
    if isinstance(value, Symbol):
        return value._roots
    if isinstance(value, slice):
        return roots_of((value.start, value.stop, value.step))
    if isinstance(value, dict):
        return roots_of((*value.keys(), *value.values()))
    if isinstance(value, (tuple, list, set, frozenset)):
        return frozenset().union(*map(roots_of, value))
    return frozenset()


def text_of(value: Any) -> str:
    """A value as Python text that gives it back. TypeError for one that has no such text."""
    if isinstance(value, Symbol):
        return value._text
    if value is None or isinstance(value, bool):
        return repr(value)
    for plain in (int, str):  # not what a class that inherits from them writes: an IntEnum
        if isinstance(value, plain):
            return plain.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if value - value == 0 else f'float("{float(value)}")'
    if isinstance(value, tuple):
        return f"({''.join(text_of(each) + ', ' for each in value)})"
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, value))}]"
    if isinstance(value, (set, frozenset)) and value:
        return "{" + ", ".join(sorted(map(text_of, value))) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_of(k)}: {text_of(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (range, slice)):
        name = type(value).__name__
        return f"{name}({text_of(value.start)}, {text_of(value.stop)}, {text_of(value.step)})"
    return _text_of_library(value)


def _text_of_library(value: Any) -> str:
    """Numbers and element types of NumPy, ml_dtypes and PyTorch."""
    library = type(value).__module__.split(".")[0]
    if library == "torch" and type(value).__name__ == "dtype":
        return repr(str(value).removeprefix("torch."))
    if library == "numpy" and hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return text_of(value.item())
    if library == "numpy" and hasattr(value, "isnative"):
        return repr(value.name)
    if isinstance(value, type) and value.__module__.split(".")[0] in ("numpy", "ml_dtypes"):
        return repr(value.__name__.rstrip("_"))
    raise TypeError(f"{type(value).__name__} has no text")


def _index_text(index: Any) -> str:
    if isinstance(index, slice):
        parts = [index.start, index.stop] + ([] if index.step is None else [index.step])
        return " : ".join("" if part is None else text_of(part) for part in parts)
    if isinstance(index, tuple) and any(isinstance(each, slice) for each in index):
        return ", ".join(map(_index_text, index))
    return text_of(index)
