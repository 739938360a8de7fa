# SPDX-License-Identifier: Apache-2.0
"""A process that runs shards, `python -m warpwright.worker`.

Pickled questions come on its standard input, answers go to its standard output, until the input ends.
What tasks print goes to the standard error.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import IO, Any

from .sweeps import call, receive, send


def answer(question: bytes) -> tuple[bool, Any]:
    """Whether the task has given a result, and that, or what it has raised."""
    try:
        path, task, shard = pickle.loads(question)
        sys.path[:] = path
        return True, call(task, pickle.loads(shard))  # of a module on that path
    except Exception as error:
        return False, error


def serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    while True:
        try:
            question = receive(questions)
        except EOFError:
            return
        told = answer(question)
        try:
            send(answers, told)
        except Exception as error:  # what cannot be sent is told
            send(answers, (False, TypeError(f"a result that cannot be sent: {error}")))


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
