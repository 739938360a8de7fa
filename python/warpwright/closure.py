# SPDX-License-Identifier: Apache-2.0
"""From a decorated function to a text that the compiler takes.

The compiler gets the user's own file with every line blanked that the kernel does not need, so that
its messages have the right line and column, and a prelude: statements that bind the values of names
that the kernel uses, as Python has them. Functions and classes of the same file come along as text.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import types
from dataclasses import dataclass, field
from typing import Any, Iterator, Union

from .errors import CaptureError
from .lang.symbols import Symbol, roots_of, text_of

# Modules whose functions the compiler knows by name.
_KNOWN_MODULES = ("math", "functools", "itertools", "operator", "dataclasses", "warpwright")


@dataclass
class Captured:
    """What a kernel is compiled from."""

    path: str
    text: str
    prelude: str
    constants: list[str]  # parameters that are `T.constexpr`
    params: list[str]


@dataclass
class _File:
    path: str
    lines: list[str]
    tree: ast.Module

    def error(self, node: ast.expr, message: str) -> CaptureError:
        line, column = node.lineno, node.col_offset
        source = self.lines[line - 1].rstrip("\n")
        return CaptureError(
            f"{self.path}:{line}:{column + 1}: error: {message} [Capture]\n"
            f"{source}\n{' ' * column}^"
        )


def _read_file(function: types.FunctionType) -> _File:
    path = function.__code__.co_filename
    linecache.checkcache(path)
    lines = linecache.getlines(path, function.__globals__)
    if not lines:
        raise CaptureError(
            f"the text of `{function.__name__}` cannot be read: `{path}` is no file. "
            "A kernel is compiled from its source; write it to a file, or use `ww.compile(text=…)`"
        )
    return _File(path, lines, ast.parse("".join(lines), path))


_Definition = (ast.FunctionDef, ast.ClassDef)
_Node = Union[ast.FunctionDef, ast.ClassDef]


def _first_line(node: _Node) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _find(file: _File, name: str, first_line: int | None) -> _Node | None:
    """The definition of that name which begins at the line; None: anywhere at the top level."""
    nodes = ast.walk(file.tree) if first_line else iter(file.tree.body)
    for node in nodes:
        if not isinstance(node, _Definition) or node.name != name:
            continue
        if first_line in (None, node.lineno, _first_line(node)):
            return node
    return None


def _bound_names(node: ast.AST) -> set[str]:
    """Names that a function binds itself, at any depth."""
    out: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.arg):
            out.add(each.arg)
        elif isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            out.add(each.id)
        elif isinstance(each, _Definition) and each is not node:
            out.add(each.name)
        elif isinstance(each, ast.alias):
            out.add((each.asname or each.name).split(".")[0])
    return out


def _outer_parts(node: _Node) -> Iterator[ast.AST]:
    """Decorators, defaults and annotations: evaluated where the function stands."""
    yield from node.decorator_list
    if isinstance(node, ast.FunctionDef):
        arguments = node.args
        yield from arguments.defaults
        yield from (each for each in arguments.kw_defaults if each is not None)
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if each.annotation is not None:
                yield each.annotation


def _used_names(node: _Node) -> dict[str, ast.Name]:
    """Names that come from outside, each with its first use."""
    out: dict[str, ast.Name] = {}
    bound = _bound_names(node)
    for part in _outer_parts(node):
        for each in ast.walk(part):
            if isinstance(each, ast.Name):
                out.setdefault(each.id, each)
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id not in bound:
            out.setdefault(each.id, each)
    return out


@dataclass
class _Capture:
    file: _File
    globals: dict[str, Any]
    kept: dict[int, _Node] = field(default_factory=dict)  # definitions by their first line
    values: dict[str, Any] = field(default_factory=dict)  # as far as they are known by name
    imports: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)

    def take(self, node: _Node, scope: dict[str, Any]) -> None:
        """A definition, and all that it uses."""
        self.kept[_first_line(node)] = node
        for name, use in _used_names(node).items():
            if name == node.name:
                continue
            if name in scope:
                self.bind(name, scope[name], use)
            elif name in self.globals:
                self.bind(name, self.globals[name], use)
            elif not hasattr(builtins, name):
                raise self.file.error(use, f"`{name}` has no value here")

    def bind(self, name: str, value: Any, use: ast.Name) -> None:
        if name in self.values:
            if self.values[name] is not value and self.values[name] != value:
                raise self.file.error(
                    use, f"`{name}` is {value!r} here and {self.values[name]!r} elsewhere in the kernel"
                )
            return
        self.values[name] = value
        value = getattr(value, "__warpwright_function__", value)
        if isinstance(value, (types.FunctionType, type)) and self._take_definition(name, value):
            return
        self._add_statement(name, value, use)

    def _take_definition(self, name: str, value: Any) -> bool:
        if isinstance(value, types.FunctionType):
            if value.__code__.co_filename != self.file.path:
                return False
            node = _find(self.file, value.__name__, value.__code__.co_firstlineno)
            scope = _cells(value)
        else:
            if value.__module__ != self.globals.get("__name__"):
                return False
            node, scope = _find(self.file, value.__name__, None), {}
        if node is None or node.name != name:
            return False
        if _first_line(node) not in self.kept:
            self.take(node, scope)
        return True

    def _add_statement(self, name: str, value: Any, use: ast.Name) -> None:
        if isinstance(value, types.ModuleType):
            self.imports.append(f"import {value.__name__} as {name}")
            return
        if isinstance(value, Symbol) and repr(value) in roots_of(value):
            self.imports.append(f"from warpwright.lang import {value!r} as {name}")
            return
        module = (getattr(value, "__module__", None) or "").split(".")[0]
        if callable(value) and module in _KNOWN_MODULES and not isinstance(value, Symbol):
            self.imports.append(f"from {module} import {value.__name__} as {name}")
            return
        try:
            self.statements.append(f"{name} = {text_of(value)}")
        except TypeError:
            raise self.file.error(use, self._why_not(name, value)) from None
        self.imports += [
            f"from warpwright.lang import {root}" for root in sorted(roots_of(value))
        ]

    def _why_not(self, name: str, value: Any) -> str:
        if isinstance(value, (types.FunctionType, type)):
            where = getattr(value, "__module__", "another module")
            return (
                f"`{name}` is defined in `{where}`, not in the kernel's file: "
                "it cannot be taken along"
            )
        return f"`{name}` is a {type(value).__name__}: it cannot be taken along as a constant"

    # --- the text -------------------------------------------------------------------------------

    def text(self) -> str:
        """The file with nothing but the definitions, each in its place."""
        out = [""] * len(self.file.lines)
        for first, node in sorted(self.kept.items()):
            for line in range(first - 1, node.end_lineno or first):
                out[line] = self.file.lines[line].rstrip("\n")
        for first, node in self.kept.items():
            is_alone = first >= 2 and not out[first - 2].strip()
            if node.col_offset > 0 and is_alone:
                out[first - 2] = "if True:"
        return "\n".join(out) + "\n"

    def prelude(self) -> str:
        lines = [*dict.fromkeys(self.imports), *self.statements]
        return "".join(line + "\n" for line in lines)


def _cells(function: types.FunctionType) -> dict[str, Any]:
    """The values of a function's closure, as far as they are bound."""
    out = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            out[name] = cell.cell_contents
        except ValueError:
            continue
    return out


def _is_constant(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation).strip("'\"").endswith(".constexpr")


def capture(function: types.FunctionType, scope: dict[str, Any]) -> Captured:
    """What the compiler needs of a function. `scope` has the local names where it was defined.

    Raises CaptureError with the place where a name is used that cannot be taken along.
    """
    file = _read_file(function)
    node = _find(file, function.__name__, function.__code__.co_firstlineno)
    if not isinstance(node, ast.FunctionDef):
        raise CaptureError(
            f"{file.path}:{function.__code__.co_firstlineno}: error: no `def "
            f"{function.__name__}` begins here: the file has changed since it was imported"
        )
    taken = _Capture(file, function.__globals__)
    taken.take(node, {**scope, **_cells(function)})
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return Captured(
        path=file.path,
        text=taken.text(),
        prelude=taken.prelude(),
        constants=[each.arg for each in arguments if _is_constant(each.annotation)],
        params=[each.arg for each in arguments],
    )
