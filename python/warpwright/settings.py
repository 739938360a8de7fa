# SPDX-License-Identifier: Apache-2.0
"""The environment variables that the package reads, all of them here."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import ArgumentError

DEFAULT_CACHE_MEGABYTES = 512


def cache_bytes() -> int:
    """`WARPWRIGHT_CACHE_MB`, the bound of the folder of kernels; 0: none is kept."""
    text = os.environ.get("WARPWRIGHT_CACHE_MB", "")
    if not text:
        return DEFAULT_CACHE_MEGABYTES << 20
    if not (text.isascii() and text.isdigit()):
        raise ArgumentError(
            f"`WARPWRIGHT_CACHE_MB` is {text!r}: expected a whole number of megabytes, or 0 to keep "
            "no kernels"
        )
    return int(text) << 20


def cache_folder() -> Path | None:
    """`WARPWRIGHT_CACHE_DIR`, else a folder in the user's cache; None for a user without a home."""
    given = os.environ.get("WARPWRIGHT_CACHE_DIR")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):  # to be ignored, says the XDG specification
        home = os.path.expanduser("~/.cache")
    return Path(home) / "warpwright" if os.path.isabs(home) else None


def debugs_calls() -> bool:
    """Whether `WARPWRIGHT_DEBUG` asks for `debug=True` in every call."""
    text = os.environ.get("WARPWRIGHT_DEBUG", "")
    if text not in ("", "0", "1"):
        raise ArgumentError(f"`WARPWRIGHT_DEBUG` is {text!r}: expected 1 (on) or 0 (off)")
    return text == "1"


def visible_gpus() -> list[str] | None:
    """The entries of `CUDA_VISIBLE_DEVICES`; CUDA ignores what follows a negative one. None: not set."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is None:
        return None
    out: list[str] = []
    for entry in (each.strip() for each in given.split(",")):
        if entry.startswith("-"):
            break
        if entry:
            out.append(entry)
    return out


def program_path() -> str:
    """`PATH`, where tools are looked up."""
    return os.environ.get("PATH", "")


def worker_environment(package: str, changes: dict[str, str]) -> dict[str, str]:
    """This process's environment for a worker, which finds the package in a folder of `PYTHONPATH`."""
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, **changes}
