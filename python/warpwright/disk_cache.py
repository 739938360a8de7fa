# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels between processes: a folder with a file each, named by all that decides them.

A file is written under another name and then renamed, so that readers see whole files only; it
begins with a digest of the rest, so that one that is broken is compiled again. The oldest files go
when the folder grows beyond its size. A folder that cannot be used is no error: nothing is kept. Nor is
one that others can write, but of that one there is a warning (private_files.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from . import _core, private_files, settings
from .source import Source

_DIGEST_BYTES = hashlib.sha256().digest_size


def folder() -> Path | None:
    """Where the files are: `WARPWRIGHT_CACHE_DIR`, else in the user's cache; None: switched off.

    `WARPWRIGHT_CACHE_MB=0` switches it off, another number bounds its size.
    """
    if settings.cache_bytes() == 0:
        return None
    return settings.cache_folder()


def _compiler_id() -> str:
    """Changes with the compiler: its version, and the file that it is in."""
    facts = os.stat(_core.__file__)
    return f"{_core.__version__} {facts.st_size} {facts.st_mtime_ns}"


def _file_of(source: Source) -> Path | None:
    base = folder()
    if base is None:
        return None
    digest = hashlib.sha256()
    for part in (_compiler_id(), *source.parts()):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return base / f"{digest.hexdigest()}.kernel"


def load(source: Source) -> _core.Kernel | None:
    """The kernel if it is there and whole."""
    path = _file_of(source)
    if path is None:
        return None
    data = private_files.read(path)
    if data is None:
        return None
    digest, payload = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if hashlib.sha256(payload).digest() == digest:
        with contextlib.suppress(Exception):
            kernel = _core.load(payload.decode("utf-8"), source.path, source.text, source.files)
            with contextlib.suppress(OSError):
                os.utime(path)  # the oldest goes first
            return kernel
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def save(source: Source, kernel: _core.Kernel) -> None:
    path = _file_of(source)
    if path is None:
        return
    payload = kernel.save()
    try:
        if not private_files.make_folder(path.parent):
            return
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")  # mode 0600
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(hashlib.sha256(payload).digest() + payload)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        _trim(path.parent)
    except OSError:
        return


def _entries(base: Path) -> list[tuple[float, int, Path]]:
    """Files by their last use: time, bytes, path. Files that vanish meanwhile are left out."""
    out = []
    for path in base.glob("*.kernel"):
        with contextlib.suppress(OSError):
            facts = path.stat()
            out.append((facts.st_mtime, facts.st_size, path))
    return sorted(out)


def _trim(base: Path) -> None:
    entries = _entries(base)
    left = sum(size for _, size, _ in entries)
    bound = settings.cache_bytes()
    for _, size, path in entries[:-1]:  # the newest stays, whatever its size
        if left <= bound:
            return
        with contextlib.suppress(OSError):
            path.unlink()
        left -= size


def clear() -> None:
    base = folder()
    if base is None or not base.is_dir():
        return
    for path in (*base.glob("*.kernel"), *base.glob("*.part")):
        with contextlib.suppress(OSError):
            path.unlink()


def size() -> int:
    """Bytes of all files."""
    base = folder()
    return 0 if base is None else sum(bytes_ for _, bytes_, _ in _entries(base))
