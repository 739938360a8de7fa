# SPDX-License-Identifier: Apache-2.0
"""The soak over many workers: `python -m warpwright.soak --workers 8 --shards 100`.

Random programs on every engine against every other (docs/internals/testing.md). A shard is a seed and
a number of programs, so what is tried depends on `--seed`, `--shards` and `--programs` alone. The
program of the soak is built by the tests; workers on other machines find it at the same path.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from .errors import Error, FileError
from .sweeps import workers_of

_PROGRAM = Path("build/release/tests/soak")


class Shard(NamedTuple):
    program: str
    seed: int
    programs: int
    only: str  # a kind of program; empty: all
    finds: str  # a folder


class ShardResult(NamedTuple):
    finds: bool
    text: str


def run_shard(shard: Shard) -> ShardResult:
    """The task of a worker."""
    command = [shard.program, "--seed", str(shard.seed), "--programs", str(shard.programs)]
    command += ["--jobs", "1", "--finds", shard.finds]
    if shard.only:
        command += ["--only", shard.only]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise FileError(f"`{shard.program}` ends with {done.returncode}: {done.stderr.strip()}")
    return ShardResult(done.returncode == 1, done.stdout)


def soak(shards: list[Shard], workers: int | str) -> int:
    """Runs the shards, with a line for each as it ends; how many have found something."""
    found = 0
    runs = workers_of(workers).run("warpwright.soak:run_shard", shards)
    for done, (number, result) in enumerate(runs, 1):
        found += result.finds
        last = result.text.strip().splitlines()[-1:] or [""]
        print(f"{done} of {len(shards)}: seed {shards[number].seed}: {last[0]}", flush=True)
        if result.finds:
            print(result.text, flush=True)
    return found


def _read(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m warpwright.soak", description=__doc__)
    parser.add_argument("--workers", default="1", help='processes, "gpus" or "ray"')
    parser.add_argument("--seed", type=int, default=1, help="of the first shard; others count on")
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--programs", type=int, default=100, help="of a shard")
    parser.add_argument("--only", default="", help="a kind: tiles, scalars, scopes, folds, autos")
    parser.add_argument(
        "--program", type=Path, default=_PROGRAM, help="the soak that the tests build"
    )
    parser.add_argument("--finds", type=Path, default=Path("soak-finds"), help="a folder for finds")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """0: nothing was found, 1: something, 2: it could not run."""
    wish = _read(sys.argv[1:] if argv is None else argv)
    program = wish.program.resolve()
    if not program.is_file():
        print(f"`{wish.program}` is no file: ./test --soak 1 builds it", file=sys.stderr)
        return 2
    finds = str(wish.finds.resolve())
    shards = [
        Shard(str(program), wish.seed + i, wish.programs, wish.only, finds)
        for i in range(wish.shards)
    ]
    workers = int(wish.workers) if wish.workers.isdecimal() else wish.workers
    try:
        found = soak(shards, workers)
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{found} of {len(shards)} shards have finds")
    return 1 if found else 0


if __name__ == "__main__":
    from warpwright import soak as itself  # workers know its classes by that name

    sys.exit(itself.main())
