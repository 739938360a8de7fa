# SPDX-License-Identifier: Apache-2.0
"""Values of the real TVM in files that import it: what they are to the compiler.

TVM itself is never imported here; its values are known by the module of their type.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from .lang import AXES


def _is_of_tvm(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "tvm"


def undecorated(value: Any) -> Any:
    """The function that `T.inline`, `T.macro` or `T.jit` was given; other values as they are."""
    inner: tuple[Any, ...] = ()
    if isinstance(value, types.FunctionType) and (value.__module__ or "").split(".")[0] == "tvm":
        inner = tuple(cell.cell_contents for cell in value.__closure__ or ())
    for each in (value, *inner):
        function = getattr(each, "func", None) if _is_of_tvm(each) else None
        if isinstance(function, types.FunctionType):
            return function
    return value


def import_of(value: Any, name: str) -> str | None:
    """The statement that gives a name of TVM's layouts in the compiler: `S`, `laneid`, …"""
    if not _is_of_tvm(value) or not type(value).__module__.endswith(".layout"):
        return None
    if type(value).__name__ == "Axis" and value.name in AXES:
        return f"from warpwright.lang import {value.name} as {name}"
    layouts = sys.modules[type(value).__module__]
    for maker in ("S", "R"):
        if getattr(layouts, maker, None) is value:
            return f"from warpwright.lang import {maker} as {name}"
    return None


def layout_text(value: Any) -> str | None:
    """A layout of TVM's as it prints it, over `T` and `Axis`; None for other values."""
    if not _is_of_tvm(value) or not type(value).__name__.endswith("Layout"):
        return None
    return repr(value)


def module_import(module: types.ModuleType, name: str) -> str:
    """The import of a module of TVM's, by the path that the compiler knows."""
    if module.__name__.split(".")[-1] == "tile":  # a re-export: its own name differs by version
        return f"from tvm.script.tirx import tile as {name}"
    return f"import {module.__name__} as {name}"
