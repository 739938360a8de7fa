# SPDX-License-Identifier: Apache-2.0
"""What pip calls to build the package: scikit-build-core, and a line on the terminal that says how far it is.

pip keeps what a build prints to itself, unless it runs with `-v`, and a first build takes minutes. Only the
terminal is out of its reach, so the line goes to /dev/tty. Without a terminal (CI, `docker build`) nothing can be
shown; `pip install -v .` prints every step there.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

from scikit_build_core import build as scikit
from scikit_build_core.build import *  # noqa: F403  # the hooks that compile nothing


def is_told_by_pip() -> bool:
    """Whether the user chose what pip prints: with `-v` all of the build, with `-q` nothing."""
    if os.environ.get("PIP_VERBOSE") or os.environ.get("PIP_QUIET"):
        return True
    try:
        words = Path(f"/proc/{os.getppid()}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(re.fullmatch(rb"-(v+|q+)|--verbose|--quiet", word) for word in words)


@contextlib.contextmanager
def progress_on_terminal():
    """What is printed inside goes where it would go, and its progress to the terminal."""
    sys.stdout.flush()
    printed, output = os.dup(1), os.pipe()
    watcher = None
    if not is_told_by_pip():
        script = Path(__file__).with_name("progress.sh")
        with contextlib.suppress(OSError), open("/dev/tty", "wb", buffering=0) as terminal:
            watcher = subprocess.Popen(["bash", script], stdin=output[0], stdout=printed, stderr=terminal)
    os.close(output[0])
    if watcher:
        os.dup2(output[1], 1)
    os.close(output[1])
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(printed, 1)  # the watcher reads to the end
        os.close(printed)
        if watcher:
            watcher.wait()


def build_wheel(*args, **settings):
    with progress_on_terminal():
        return scikit.build_wheel(*args, **settings)


def build_editable(*args, **settings):
    with progress_on_terminal():
        return scikit.build_editable(*args, **settings)
