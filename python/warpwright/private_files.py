# SPDX-License-Identifier: Apache-2.0
"""Files that only this user can have written.

A kernel from a file runs as if this process had compiled it, so a file is read only where neither it nor
its folder belongs to another user or can be written by one. (Root's are taken: root can write anything.)
What is checked is what is open, which nobody can exchange meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import threading
import warnings
from pathlib import Path
from typing import Iterator

from .errors import CacheWarning

_warned: set[str] = set()
_lock = threading.Lock()


def read(path: Path) -> bytes | None:
    """The bytes of a file; None where there is none, or, with a warning, where others can write it."""
    with _private_folder(path.parent) as folder:
        if folder is None:
            return None
        try:
            # A link is not followed, and a pipe not waited for.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            file = os.open(path.name, flags, dir_fd=folder)
        except OSError:
            return None
        with os.fdopen(file, "rb") as data:
            facts = os.fstat(file)
            if not stat.S_ISREG(facts.st_mode) or not _is_private(path, facts):
                return None
            return data.read()


def make_folder(path: Path) -> bool:
    """A folder for this user alone, made if it is missing. False, with a warning, if others can write
    it; raises OSError where there can be none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    with _private_folder(path) as folder:
        return folder is not None


@contextlib.contextmanager
def _private_folder(path: Path) -> Iterator[int | None]:
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        yield None
        return
    try:
        yield folder if _is_private(path, os.fstat(folder)) else None
    finally:
        os.close(folder)


def _is_private(path: Path, facts: os.stat_result) -> bool:
    if facts.st_uid not in (os.geteuid(), 0):
        _warn(path, f"belongs to user {facts.st_uid}", "remove it")
    elif facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        who = "every user" if facts.st_mode & stat.S_IWOTH else "its group"
        _warn(path, f"{who} can write", f"remove it, or run `chmod go-w {shlex.quote(str(path))}`")
    else:
        return True
    return False


def _warn(path: Path, why: str, fix: str) -> None:
    """Once for each path."""
    with _lock:
        if str(path) in _warned:
            return
        _warned.add(str(path))
    warnings.warn(
        f"no kernel is loaded from `{path}`, which {why}: {fix}, or name a folder of your own in "
        "WARPWRIGHT_CACHE_DIR",
        CacheWarning,
        stacklevel=2,
    )
