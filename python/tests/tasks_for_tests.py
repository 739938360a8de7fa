# SPDX-License-Identifier: Apache-2.0
"""Tasks that workers of the tests run."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from warpwright import sweeps


def square(shard: int) -> int:
    print("what a task prints is no answer")
    return shard * shard


def process(shard: int) -> int:
    return os.getpid()


def fail(shard: int) -> int:
    raise ValueError(f"shard {shard} is wrong")


def give_function(shard: int) -> Any:
    return lambda: shard


def die(shard: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return shard


def leave_child(file: str) -> int:
    """Dies while a process of its own runs on."""
    child = subprocess.Popen(["sleep", "600"])
    with open(file, "a") as out:
        out.write(f"{child.pid}\n")
    return die(0)


def die_first(shard: tuple[str, str, Any]) -> Any:
    """Another task, but the first worker that comes here is killed in the middle of it."""
    mark, task, inner = shard
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return sweeps.call(task, inner)
    return die(0)
