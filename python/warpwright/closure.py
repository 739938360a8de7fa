# SPDX-License-Identifier: Apache-2.0
"""From a decorated function to texts that the compiler takes.

The compiler gets the user's own file with every line blanked that the kernel does not need, so that
its messages have the right line and column, and a prelude: statements that bind the values of names
that the kernel uses, as Python has them. Functions and classes come along as text: those of other
files in texts of their own, each with its prelude and a scope of its own, which the others import.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import inspect
import sys
import types
from dataclasses import dataclass, field
from typing import Any

from . import tvm_values
from .errors import CaptureError
from .lang.symbols import Symbol, roots_of, text_of
from .signature import Signature, read_signature
from .source import File
from .source_files import (
    Definition,
    SourceFile,
    Use,
    find_class,
    find_decorated,
    is_autotune,
    find_function,
    first_line,
    read_file,
    used_attributes,
    used_names,
)

# Modules that the compiler knows by name.
_KNOWN_MODULES = (
    "dataclasses", "functools", "itertools", "math", "operator", "tvm", "typing", "warpwright",
)  # fmt: skip
_ELEMENT_TYPES = ("ml_dtypes", "numpy")
# Of NumPy the compiler knows functions of numbers and shapes (src/script/api/modules.cpp).
_NUMPY_FUNCTIONS = frozenset("ceil exp floor gcd lcm log log2 max min prod sqrt sum".split())
# Modules whose text no kernel is made of.
_FOREIGN_MODULES = (sys.stdlib_module_names | {"cupy", "jax", "ml_dtypes", "numpy", "torch"}) - {
    "builtins"
}


@dataclass
class Captured:
    """What a kernel is compiled from."""

    path: str
    text: str
    prelude: str
    module: str
    files: tuple[File, ...]
    signature: Signature


@dataclass(frozen=True)
class Origin:
    """Where a kernel stands, and the values around it."""

    path: str
    name: str
    line: int
    globals: dict[str, Any]
    scope: dict[str, Any]  # local names where it was defined


def origin_of(function: types.FunctionType, scope: dict[str, Any]) -> Origin:
    code = function.__code__
    around = {**scope, **_cells(function)}
    return Origin(
        code.co_filename, function.__name__, code.co_firstlineno, function.__globals__, around
    )


def origin_at(frame: types.FrameType, scope: dict[str, Any]) -> Origin | None:
    """Of the function that is being decorated in a frame, whatever a decorator has made of it."""
    file = read_file(frame.f_code.co_filename, frame.f_globals)
    node = find_decorated(file, frame.f_lineno) if file is not None else None
    if file is None or node is None:
        return None
    return Origin(file.path, node.name, node.lineno, frame.f_globals, scope)


@dataclass
class _Module:
    """What is taken of a file, or of a module whose values alone are needed."""

    key: str  # the name that others import it by
    name: str  # among all modules
    path: str
    file: SourceFile | None
    globals: dict[str, Any]
    kept: dict[int, Definition] = field(default_factory=dict)  # by their first lines
    values: dict[str, Any] = field(default_factory=dict)  # as far as they are known by name
    imports: dict[str, None] = field(default_factory=dict)  # statements, in their order
    statements: list[str] = field(default_factory=list)
    needs: dict[str, None] = field(default_factory=dict)  # names of modules

    def text(self) -> str:
        return "" if self.file is None else self.file.blanked(self.kept)

    def prelude(self) -> str:
        return "".join(line + "\n" for line in (*self.imports, *self.statements))


class _Capture:
    def __init__(self) -> None:
        self.modules: dict[str, _Module] = {}  # by name; the kernel's is the first

    def module(
        self, name: str, file: SourceFile | None, values: dict[str, Any], path: str = ""
    ) -> _Module:
        """What is taken under a name, which is the path for all but a second scope of a file."""
        if name not in self.modules:
            key = f"warpwright_file_{len(self.modules)}"
            self.modules[name] = _Module(key, name, path or name, file, values)
        return self.modules[name]

    # --- names ------------------------------------------------------------------------------------

    def take(
        self,
        home: _Module,
        node: Definition,
        scope: dict[str, Any],
        above: Use | None,
        extents: frozenset[str] = frozenset(),
    ) -> None:
        """A definition of a file, and all that it uses but for the extents of its arrays."""
        assert home.file is not None
        home.kept[first_line(node)] = node
        for name, at in used_names(node).items():
            use = Use(home.file, at, above, node.name)
            if name == node.name or name in extents:
                continue
            if name in scope:
                value = scope[name]
            elif name in home.globals:
                value = home.globals[name]
            elif hasattr(builtins, name):
                continue
            else:
                raise use.error(f"`{name}` has no value here")
            if isinstance(value, types.ModuleType):
                self._bind_module(home, name, value, node, name, use)
            else:
                self.bind(home, name, value, use)

    def bind(self, home: _Module, name: str, value: Any, use: Use) -> None:
        """Makes a name mean a value in the scope of a module."""
        if name in home.values:
            known = home.values[name]
            if known is not value and known != value:
                raise use.error(f"`{name}` is {value!r} here and {known!r} elsewhere in the kernel")
            return
        home.values[name] = value
        value = tvm_values.undecorated(getattr(value, "__warpwright_function__", value))
        if isinstance(value, enum.Enum):
            value = value.value
        if (statement := _import_of(value, name)) is not None:
            home.imports[statement] = None
        elif isinstance(value, enum.EnumMeta):
            self._bind_enum(home, name, value, use)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            self._bind_instance(home, name, value, use)
        elif _is_definition(value):
            self._bind_definition(home, name, inspect.unwrap(value), use)
        else:
            self._bind_constant(home, name, value, use)

    def _bind_module(
        self,
        home: _Module,
        name: str,
        value: types.ModuleType,
        node: Definition,
        path: str,
        use: Use,
    ) -> None:
        """A module: what the definition takes of it by name, `path.attribute`."""
        root = value.__name__.split(".")[0]
        if root in _KNOWN_MODULES:
            is_tvm = root == "tvm"
            plain = f"import {value.__name__} as {name}"
            home.imports[tvm_values.module_import(value, name) if is_tvm else plain] = None
            return
        file: str = getattr(value, "__file__", None) or ""
        has_text = file.endswith(".py") and root not in _FOREIGN_MODULES
        read = read_file(file, vars(value)) if has_text else None
        other = self.module(file or value.__name__, read, vars(value))
        home.imports[f"import {other.key} as {name}"] = None
        home.needs[other.name] = None
        for attribute, at in used_attributes(node, path).items():
            there = Use(use.file, at, use.above, use.name)
            if not hasattr(value, attribute):
                raise there.error(f"module `{value.__name__}` has no `{attribute}`")
            inner = getattr(value, attribute)
            if isinstance(inner, types.ModuleType):
                self._bind_module(other, attribute, inner, node, f"{path}.{attribute}", there)
            else:
                self.bind(other, attribute, inner, there)

    def _bind_enum(self, home: _Module, name: str, value: enum.EnumMeta, use: Use) -> None:
        """An enumeration: names for the values of its members."""
        other = self.module(f"{value.__module__}.{value.__qualname__}", None, {})
        members: dict[str, Any] = dict(value.__members__)
        for its_name, member in members.items():
            self.bind(other, its_name, member, use)
        home.imports[f"import {other.key} as {name}"] = None
        home.needs[other.name] = None

    def _bind_instance(self, home: _Module, name: str, value: Any, use: Use) -> None:
        """An object of a dataclass: a call of the class with its fields."""
        cls = type(value)
        if hasattr(cls, "__post_init__") or not all(each.init for each in dataclasses.fields(cls)):
            raise use.error(
                f"`{name}` cannot be taken along: an object of `{cls.__name__}` is more than the "
                "arguments of its call, by `__post_init__` or fields with `init=False`"
            )
        where, node, scope = self._class(home, cls.__name__, cls, use)
        if (
            where is home
        ):  # the prelude runs before the file: the class comes from a scope of its own
            where = self.module(f"{home.path}#classes", home.file, home.globals, home.path)
        if first_line(node) not in where.kept:
            self.take(where, node, scope, use)
        texts = []
        for field_ in dataclasses.fields(value):
            its_value = getattr(value, field_.name)
            try:
                text = text_of(its_value.value if isinstance(its_value, enum.Enum) else its_value)
            except TypeError:
                raise use.error(_why_no_constant(f"{name}.{field_.name}", its_value)) from None
            texts.append(f"{field_.name}={text}")
        alias = f"warpwright_{where.key}_{cls.__name__}"
        home.imports[f"from {where.key} import {cls.__name__} as {alias}"] = None
        home.needs[where.name] = None
        home.statements.append(f"{name} = {alias}({', '.join(texts)})")

    def _bind_constant(self, home: _Module, name: str, value: Any, use: Use) -> None:
        layout = tvm_values.layout_text(value)
        try:
            home.statements.append(f"{name} = {layout or text_of(value)}")
        except TypeError:
            if self._leave_unknown(home, name, value, use):
                return
            raise use.error(_why_no_constant(name, value)) from None
        for root in ("Axis", "T") if layout else sorted(roots_of(value)):
            home.imports[f"from warpwright.lang import {root}"] = None

    def _leave_unknown(self, home: _Module, name: str, value: Any, use: Use) -> bool:
        """Makes a name of a helper a value that the compiler does not know: a logger, a warning. It is
        an error there if the kernel needs it. What a kernel names itself, it needs."""
        named = value if hasattr(value, "__name__") else type(value)
        if use.above is None or _root(named) not in _FOREIGN_MODULES:
            return False
        home.imports[f"from {named.__module__} import {named.__name__} as {name}"] = None
        return True

    # --- definitions ------------------------------------------------------------------------------

    def _bind_definition(self, home: _Module, name: str, value: Any, use: Use) -> None:
        if _root(value) in _FOREIGN_MODULES:
            if self._leave_unknown(home, name, value, use):
                return
            raise use.error(
                f"`{name}` cannot be taken along: it is of `{value.__module__}`, which the compiler "
                "does not know"
            )
        if isinstance(value, type):
            other, node, scope = self._class(home, name, value, use)
        else:
            other, node, scope = self._function(name, value, use)
        if first_line(node) not in other.kept:
            if other is not home:
                _refuse_globals(name, node, use)
            self.take(other, node, scope, use)
        if other is not home or node.name != name:
            home.imports[f"from {other.key} import {node.name} as {name}"] = None
            home.needs[other.name] = None

    def _function(
        self, name: str, value: types.FunctionType, use: Use
    ) -> tuple[_Module, Definition, dict[str, Any]]:
        if value.__name__ == "<lambda>":
            raise use.error(f"`{name}` is a lambda: write it as a `def`, which can be taken along")
        path = value.__code__.co_filename
        file = self._read(path, value.__globals__)
        if file is None:
            raise use.error(
                f"`{name}` cannot be taken along: it has no source, `{path}` is no file"
            )
        node = find_function(file, value.__name__, value.__code__.co_firstlineno)
        if node is None:
            raise use.error(
                f"`{name}` cannot be taken along: no `def {value.__name__}` begins at line "
                f"{value.__code__.co_firstlineno} of `{path}`; has it changed since its import?"
            )
        return self.module(path, file, value.__globals__), node, _cells(value)

    def _class(
        self, home: _Module, name: str, value: type, use: Use
    ) -> tuple[_Module, Definition, dict[str, Any]]:
        module = sys.modules.get(value.__module__)
        values = vars(module) if module is not None else {}
        codes = [inspect.unwrap(each) for each in vars(value).values() if inspect.isfunction(each)]
        paths = [
            each.__code__.co_filename for each in codes if isinstance(each, types.FunctionType)
        ]
        paths += [
            getattr(module, "__file__", None) or "",
            home.path if values is home.globals else "",
        ]
        for path in dict.fromkeys(paths):
            file = self._read(path, values) if path else None
            node = find_class(file, value.__name__) if file is not None else None
            if file is not None and node is not None:
                return self.module(path, file, values), node, {}
        raise use.error(
            f"`{name}` cannot be taken along: no source of class `{value.__qualname__}` of "
            f"`{value.__module__}` is found"
        )

    def _read(self, path: str, values: dict[str, Any]) -> SourceFile | None:
        known = self.modules.get(path)
        return known.file if known is not None else read_file(path, values)

    # --- the texts --------------------------------------------------------------------------------

    def files(self) -> tuple[File, ...]:
        """All modules but the kernel's, each behind the ones it needs."""
        main, *_ = self.modules
        seen: dict[str, None] = {}
        done: list[_Module] = []

        def visit(name: str) -> None:
            if name in seen:
                return
            seen[name] = None
            for needed in self.modules[name].needs:
                visit(needed)
            done.append(self.modules[name])

        visit(main)
        return tuple(
            File(each.key, each.path, each.text(), each.prelude())
            for each in done
            if each.name != main
        )


def _root(value: Any) -> str:
    return (getattr(value, "__module__", None) or "").split(".")[0]


def _import_of(value: Any, name: str) -> str | None:
    """The import of a name that the compiler knows by its module; None for other values."""
    if isinstance(value, Symbol):
        is_name = repr(value) in roots_of(value)
        return f"from warpwright.lang import {value!r} as {name}" if is_name else None
    if (statement := tvm_values.import_of(value, name)) is not None:
        return statement
    theirs = getattr(value, "__name__", "")
    if theirs in _NUMPY_FUNCTIONS and getattr(sys.modules.get("numpy"), theirs, None) is value:
        return f"from numpy import {theirs} as {name}"
    if not callable(value) or _root(value) not in _KNOWN_MODULES:
        return None
    module = value.__module__ if _root(value) == "tvm" else _root(value)
    is_there = getattr(sys.modules.get(module), theirs, None) is value
    return f"from {module} import {theirs} as {name}" if is_there else None


def _is_definition(value: Any) -> bool:
    if isinstance(value, type):
        return _root(value) not in _ELEMENT_TYPES
    return isinstance(inspect.unwrap(value) if callable(value) else value, types.FunctionType)


def _why_no_constant(name: str, value: Any) -> str:
    if isinstance(value, types.BuiltinFunctionType):
        where = value.__module__ or "Python"
        return f"`{name}` cannot be taken along: it is a built-in function of `{where}`, without source"
    return (
        f"`{name}` is {value!r:.60}, of type `{type(value).__name__}`: it cannot be taken along as a "
        "constant"
    )


def _refuse_globals(name: str, node: Definition, use: Use) -> None:
    for each in ast.walk(node):
        if isinstance(each, ast.Global):
            raise use.error(
                f"`{name}` cannot be taken along: it changes `{each.names[0]}` of its module"
            )


def _cells(function: types.FunctionType) -> dict[str, Any]:
    """The values of a function's closure, as far as they are bound."""
    out = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            out[name] = cell.cell_contents
        except ValueError:
            continue
    return out


def capture(origin: Origin) -> Captured:
    """What the compiler needs of a kernel.

    Raises CaptureError with the place where a name is used that cannot be taken along.
    """
    file = read_file(origin.path, origin.globals)
    if file is None:
        raise CaptureError(
            f"the text of `{origin.name}` cannot be read: `{origin.path}` is no file. "
            "A kernel is compiled from its source; write it to a file, or use `ww.compile(text=…)`"
        )
    node = find_function(file, origin.name, origin.line)
    if node is None:
        raise CaptureError(
            f"{file.path}:{origin.line}: error: no `def {origin.name}` begins here: the file has "
            "changed since it was imported"
        )
    # What chooses constants is Python's alone: its values need not be known to the compiler.
    node.decorator_list = [each for each in node.decorator_list if not is_autotune(each)]
    taken = _Capture()
    main = taken.module(file.path, file, origin.globals)
    signature = read_signature(node, {**origin.globals, **origin.scope})
    taken.take(main, node, origin.scope, None, signature.extent_names())
    return Captured(
        path=file.path,
        text=main.text(),
        prelude=main.prelude(),
        module=main.key,
        files=taken.files(),
        signature=signature,
    )
