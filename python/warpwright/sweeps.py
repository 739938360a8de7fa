# SPDX-License-Identifier: Apache-2.0
"""Work in shards, over local processes or a Ray cluster.

A shard is plain data. A task is a function that takes one, named "module:function", so that a worker
needs nothing but the package. Results come back as they finish; a shard whose worker is lost runs
again. What a shard gives depends on the shard alone, never on who runs it or when.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any, Iterator, Protocol, Sequence, Union

from . import settings
from .errors import ArgumentError, WorkerError

MAX_LOSSES = 3  # of the workers of one shard, before it is to blame


class Workers(Protocol):
    """What runs shards. There are two below; anything else with this method will do."""

    def run(self, task: str, shards: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """The number of each shard with its result, as they finish. Raises what a task raises, and
        WorkerError for a shard that has lost MAX_LOSSES workers."""
        ...


WorkersLike = Union[int, str, Workers]


def workers_of(wish: WorkersLike) -> Workers:
    """A number of local processes; "gpus": one for each GPU; "ray": the caller's cluster."""
    if isinstance(wish, bool) or (isinstance(wish, int) and wish < 1):
        raise ArgumentError(f"`workers` is {wish!r}: expected 1 or more")
    if isinstance(wish, int):
        return LocalWorkers([{}] * wish)
    if wish == "gpus":
        return LocalWorkers([{"CUDA_VISIBLE_DEVICES": each} for each in _visible_gpus()])
    if wish == "ray":
        return RayWorkers()
    if hasattr(wish, "run"):
        return wish  # type: ignore[return-value]
    raise ArgumentError(f'`workers` is {wish!r}: expected a number, "gpus" or "ray"')


def call(task: str, shard: Any) -> Any:
    """What a worker does."""
    module, _, name = task.partition(":")
    return getattr(importlib.import_module(module), name)(shard)


def send(pipe: IO[bytes], value: Any) -> None:
    """A value to a process at the other end, or from it."""
    data = pickle.dumps(value)
    pipe.write(len(data).to_bytes(8, "little") + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes:
    """The value that was sent, still pickled. EOFError where the other end is gone."""
    size = int.from_bytes(_read(pipe, 8), "little")
    return _read(pipe, size)


def _read(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _visible_gpus() -> list[str]:
    found = settings.visible_gpus()
    if found is None:
        numbers = [path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia*")]
        found = sorted((each for each in numbers if each.isdecimal()), key=int)
    if not found:
        raise ArgumentError('`workers` is "gpus": there is no GPU here')
    return found


# --- local processes ------------------------------------------------------------------------------


class LocalWorkers:
    """A process for each entry of `environments`, which has what it changes in the environment."""

    def __init__(self, environments: Sequence[dict[str, str]]):
        self._environments = list(environments)

    def run(self, task: str, shards: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        count = min(len(self._environments), len(shards))
        sweep = _Sweep(task, shards)
        threads = [
            threading.Thread(target=sweep.serve, args=(environment,), daemon=True)
            for environment in self._environments[:count]
        ]
        try:
            for thread in threads:
                thread.start()
            for _ in shards:
                number, result = sweep.results.get()
                if isinstance(result, _Failure):
                    raise result.error
                yield number, result
        finally:
            sweep.stop()
            for thread in threads:
                thread.join()


class _Failure:
    def __init__(self, error: BaseException):
        self.error = error


class _Sweep:
    """Shards that are left, and results that have come. Each thread serves one process."""

    def __init__(self, task: str, shards: Sequence[Any]):
        self._task = task
        self._shards = shards
        self._left: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._losses = [0] * len(shards)
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._is_stopped = False
        self.results: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        for number in range(len(shards)):
            self._left.put(number)

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            processes = list(self._processes)
        for process in processes:
            _kill(process)
            self._left.put(None)
        self._left.put(None)

    def serve(self, environment: dict[str, str]) -> None:
        process: subprocess.Popen[bytes] | None = None
        try:
            while (number := self._left.get()) is not None:
                if process is None:
                    process = self._start(environment)
                    if process is None:
                        break
                answer = self._ask(process, number)
                if answer is not None:
                    self.results.put((number, answer))
                    continue
                self._lose(process, number)
                process = None
        except BaseException as error:  # the caller raises it
            self.results.put((0, _Failure(error)))
        finally:
            self._left.put(None)  # for the next thread
            if process is not None:
                self._end(process)

    def _start(self, environment: dict[str, str]) -> subprocess.Popen[bytes] | None:
        here = str(Path(__file__).resolve().parents[1])
        with self._lock:
            if self._is_stopped:
                return None
            process = subprocess.Popen(
                [sys.executable, "-m", "warpwright.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=settings.worker_environment(here, environment),
                start_new_session=True,  # Ctrl-C is for the caller, who ends the workers
            )
            self._processes.add(process)
        return process

    def _ask(self, process: subprocess.Popen[bytes], number: int) -> Any:
        """The result, or a _Failure; None where the process is gone."""
        assert process.stdin is not None and process.stdout is not None
        try:
            send(process.stdin, (sys.path, self._task, pickle.dumps(self._shards[number])))
            data = receive(process.stdout)
        except (EOFError, OSError):
            return None
        is_good, value = pickle.loads(data)
        return value if is_good else _Failure(value)

    def _lose(self, process: subprocess.Popen[bytes], number: int) -> None:
        self._end(process)
        with self._lock:
            self._losses[number] += 1
            losses, is_stopped = self._losses[number], self._is_stopped
        if is_stopped:
            return
        if losses < MAX_LOSSES:
            self._left.put(number)
            return
        error = WorkerError(
            f"shard {number} has lost {losses} workers, the last with exit status "
            f"{process.returncode}"
        )
        self.results.put((number, _Failure(error)))

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._processes.discard(process)
        _kill(process)
        process.communicate()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With what it has started itself."""
    if process.returncode is None:  # else its number may be another's
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


# --- Ray ------------------------------------------------------------------------------------------


class RayWorkers:
    """The caller's cluster: the one that `ray.init` has connected to, or connects to now. Its nodes
    have this package. `gpus` is how many a shard takes."""

    def __init__(self, gpus: int = 0):
        self._gpus = gpus

    def run(self, task: str, shards: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        ray = _ray()
        if not ray.is_initialized():
            ray.init()
        remote = ray.remote(max_retries=MAX_LOSSES - 1, num_gpus=self._gpus)(call)
        pending = {remote.remote(task, shard): number for number, shard in enumerate(shards)}
        try:
            while pending:
                (done, *_), _ = ray.wait(list(pending))
                number = pending.pop(done)
                try:
                    result = ray.get(done)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                except ray.exceptions.RayError as error:
                    raise WorkerError(f"shard {number} has lost its workers: {error}") from None
                yield number, result
        finally:
            for left in pending:
                ray.cancel(left, force=True)


def _ray() -> Any:
    try:
        import ray  # noqa: PLC0415  only where it is asked for
        import ray.exceptions  # noqa: PLC0415
    except ImportError:
        raise ArgumentError('`workers` is "ray", which is not installed') from None
    return ray
