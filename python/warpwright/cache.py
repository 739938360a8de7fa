# SPDX-License-Identifier: Apache-2.0
"""What is kept of compiled kernels: in this process, and in a folder for all processes."""

from __future__ import annotations

import threading
from pathlib import Path

from . import _core, disk_cache
from .source import Source

_MAX_KERNELS = 1024
_kernels: dict[Source, _core.Kernel] = {}
_lock = threading.Lock()


def clear() -> None:
    """Forgets every compiled kernel, here and in the folder. Kernels in use stay as they are."""
    with _lock:
        _kernels.clear()
    disk_cache.clear()


def folder() -> Path | None:
    """Where kernels are kept between processes; None where that is switched off.

    `WARPWRIGHT_CACHE_DIR` names another folder, `WARPWRIGHT_CACHE_MB` its size (0: off).
    """
    return disk_cache.folder()


def size() -> int:
    """Bytes of the folder's files."""
    return disk_cache.size()


def get(source: Source) -> _core.Kernel:
    """The kernel: from this process, from the folder, or compiled. Raises CompileError."""
    with _lock:
        known = _kernels.get(source)
    if known is not None:
        return known
    made = disk_cache.load(source)
    if made is None:
        made = compile_whole(source)
        disk_cache.save(source, made)
    return _keep(source, made)


def whole(source: Source) -> _core.Kernel:
    """The kernel with the report of what was chosen, which the folder does not have."""
    known = get(source)
    return _keep(source, compile_whole(source), known) if known.is_loaded else known


def compile_whole(source: Source) -> _core.Kernel:
    return _core.compile(*source)


def _keep(source: Source, made: _core.Kernel, old: _core.Kernel | None = None) -> _core.Kernel:
    """Keeps a kernel, in the place of `old`; another thread may have been faster."""
    with _lock:
        if len(_kernels) >= _MAX_KERNELS:
            del _kernels[next(iter(_kernels))]  # the oldest
        if _kernels.get(source) is old:
            _kernels[source] = made
        return _kernels.get(source, made)
