# SPDX-License-Identifier: Apache-2.0
"""A process that runs shards, `python -m warpwright.worker`.

Pickled questions come on its standard input, answers go to its standard output, until the input ends.
What tasks print goes to the standard error.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, BinaryIO

from .sweeps import call


def answer(path: list[str], task: str, shard: Any) -> tuple[bool, Any]:
    """Whether the task has given a result, and that, or what it has raised."""
    sys.path[:] = path
    try:
        return True, call(task, shard)
    except Exception as error:
        return False, error


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    while True:
        try:
            question = pickle.load(questions)
        except EOFError:
            return
        data = answer(*question)
        try:
            text = pickle.dumps(data)
        except Exception as error:  # what cannot be sent is told
            text = pickle.dumps((False, TypeError(f"the result of {question[1]}: {error}")))
        answers.write(text)
        answers.flush()


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
