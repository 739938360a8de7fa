# SPDX-License-Identifier: Apache-2.0
"""Python files as texts and trees: definitions, and the names that they use from outside."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from typing import Any, Iterator, Union

from .errors import CaptureError

Definition = Union[ast.FunctionDef, ast.ClassDef]
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


@dataclass
class SourceFile:
    path: str
    lines: list[str]
    tree: ast.Module

    def blanked(self, kept: dict[int, Definition]) -> str:
        """The text with nothing but some definitions, by their first lines, each in its place."""
        out = [""] * len(self.lines)
        for first, node in sorted(kept.items()):
            for line in range(first - 1, node.end_lineno or first):
                out[line] = self.lines[line].rstrip("\n")
        for first, node in kept.items():
            is_alone = first >= 2 and not out[first - 2].strip()
            if node.col_offset > 0 and is_alone:
                out[first - 2] = "if True:"
        return "\n".join(out) + "\n"


@dataclass(frozen=True)
class Use:
    """Where a name is used; `above` is where the definition is needed that uses it."""

    file: SourceFile
    node: ast.expr
    above: Use | None = None
    name: str = ""  # of the definition

    def error(self, message: str) -> CaptureError:
        text = f"{self._place()}: error: {message} [Capture]\n{self._excerpt()}"
        use = self
        while use.above is not None:
            text += f"\n{use.above._place()}: note: `{use.name}` is needed here"
            text += f"\n{use.above._excerpt()}"
            use = use.above
        return CaptureError(text)

    def _place(self) -> str:
        return f"{self.file.path}:{self.node.lineno}:{self.node.col_offset + 1}"

    def _excerpt(self) -> str:
        line = self.file.lines[self.node.lineno - 1].rstrip("\n")
        return f"{line}\n{' ' * self.node.col_offset}^"


def read_file(path: str, module_globals: dict[str, Any]) -> SourceFile | None:
    """The file, also one of a notebook; None where there is no such text."""
    linecache.checkcache(path)
    lines = linecache.getlines(path, module_globals)
    return SourceFile(path, lines, ast.parse("".join(lines), path)) if lines else None


def first_line(node: Definition) -> int:
    """That of its first decorator."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def find_function(file: SourceFile, name: str, line: int) -> ast.FunctionDef | None:
    """The function that begins at the line, with its `def` or its decorators."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            if line in (node.lineno, first_line(node)):
                return node
    return None


def find_decorated(file: SourceFile, line: int) -> ast.FunctionDef | None:
    """The function that has a decorator at the line."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            if first_line(node) <= line <= node.lineno:
                return node
    return None


def is_autotune(decorator: ast.expr) -> bool:
    """Whether it is `@ww.autotune(…)`."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(called).split(".")[-1] == "autotune"


def find_class(file: SourceFile, name: str) -> ast.ClassDef | None:
    """The class of that name; None where there are several, or none."""
    found = [
        node for node in ast.walk(file.tree) if isinstance(node, ast.ClassDef) and node.name == name
    ]
    return found[0] if len(found) == 1 else None


def _bound_names(node: ast.AST) -> set[str]:
    """Names that a definition binds itself, at any depth."""
    out: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.arg):
            out.add(each.arg)
        elif isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            out.add(each.id)
        elif isinstance(each, _DEFINITIONS) and each is not node:
            out.add(each.name)
        elif isinstance(each, ast.alias):
            out.add((each.asname or each.name).split(".")[0])
    return out


def _outer_parts(node: Definition) -> Iterator[ast.AST]:
    """Decorators, defaults and annotations: evaluated where the definition stands."""
    yield from node.decorator_list
    if isinstance(node, ast.FunctionDef):
        arguments = node.args
        yield from arguments.defaults
        yield from (each for each in arguments.kw_defaults if each is not None)
        for each in parameters(node):
            if each.annotation is not None:
                yield each.annotation


def parameters(node: ast.FunctionDef) -> tuple[ast.arg, ...]:
    return (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)


def used_names(node: Definition) -> dict[str, ast.Name]:
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


def used_attributes(node: Definition, path: str) -> dict[str, ast.Attribute]:
    """What a definition takes by name of `path`, "package.module", each with its first use."""
    out: dict[str, ast.Attribute] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and ast.unparse(each.value) == path:
            out.setdefault(each.attr, each)
    return out
