# SPDX-License-Identifier: Apache-2.0
"""Shards over local processes and over Ray, whose workers are killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

import warpwright as ww
from warpwright import soak, sweeps

SPACE = {"space": {"tile": [32, 64, 96, 128, 160, 192]}, "expect": ["B == A.T"], "device": "sim"}


class Dying:
    """Workers the first of which is killed in the middle of a shard."""

    def __init__(self, inner, mark):
        self.inner, self.mark = inner, mark

    def run(self, task, shards):
        wrapped = [(str(self.mark), task, shard) for shard in shards]
        yield from self.inner.run("tasks_for_tests:die_first", wrapped)
        assert self.mark.exists(), "nothing was killed"


def local(count):
    return sweeps.LocalWorkers([{}] * count)


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    paths = os.pathsep.join([os.path.dirname(__file__), *filter(None, sys.path)])
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
    )
    yield ray
    ray.shutdown()


def tune(examples, **named):
    return ww.tune(examples / "transpose.py", "build(m=384, n=384, tile=?)", **SPACE, **named)


# --- local processes ---


def test_results_come_with_their_shards():
    got = dict(local(2).run("tasks_for_tests:square", range(7)))
    assert got == {number: number * number for number in range(7)}
    assert dict(local(3).run("tasks_for_tests:square", [])) == {}


def test_a_worker_runs_many_shards():
    pids = {pid for _, pid in local(2).run("tasks_for_tests:process", range(8))}
    assert 1 <= len(pids) <= 2 and os.getpid() not in pids


def test_what_a_task_raises_comes_out():
    with pytest.raises(ValueError, match="shard [01] is wrong"):
        list(local(2).run("tasks_for_tests:fail", range(2)))
    with pytest.raises(TypeError, match="a result that cannot be sent: .*lambda"):
        list(local(1).run("tasks_for_tests:give_function", range(1)))


def test_a_shard_that_workers_do_not_know_is_refused(monkeypatch):
    class Local:
        pass

    monkeypatch.setattr(sys.modules[__name__], "Hidden", Local, raising=False)
    Local.__qualname__ = Local.__name__ = "Hidden"  # here there is such a class, elsewhere not
    with pytest.raises(AttributeError, match="Hidden"):
        list(local(1).run("tasks_for_tests:square", [Local()]))


def test_a_shard_of_a_lost_worker_runs_again(tmp_path):
    workers = Dying(local(2), tmp_path / "mark")
    got = dict(workers.run("tasks_for_tests:square", range(5)))
    assert got == {number: number * number for number in range(5)}


def test_a_shard_that_kills_its_workers_is_refused():
    with pytest.raises(ww.WorkerError, match="shard 0 has lost 3 workers.* exit status -9"):
        list(local(1).run("tasks_for_tests:die", range(1)))


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as facts:
            return facts.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_lost_workers_have_started_ends_with_them(tmp_path):
    with pytest.raises(ww.WorkerError, match="shard 0 has lost 3 workers"):
        list(local(1).run("tasks_for_tests:leave_child", [str(tmp_path / "children")]))
    children = (tmp_path / "children").read_text().split()
    assert len(children) == 3
    for _ in range(1000):  # a signal is on its way for a moment
        if not any(runs(pid) for pid in children):
            return
        time.sleep(0.01)
    raise AssertionError(children)


def test_the_rest_is_left_when_the_caller_stops():
    for _, pid in local(2).run("tasks_for_tests:process", range(100)):
        break
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_ranking_does_not_depend_on_workers(examples, tmp_path):
    calls = []
    alone = tune(examples)
    assert len(alone.ranked) >= 2 and len(alone.dropped) >= 2
    several = tune(examples, workers=2, progress=lambda *at: calls.append(at))
    with_loss = tune(examples, workers=Dying(local(2), tmp_path / "mark"))
    for other in (several, with_loss):
        assert other.text == alone.text and other.data == alone.data
    assert calls[0] == (0, 6) and calls[-1] == (6, 6)


def test_wrong_workers_are_refused(examples, monkeypatch):
    for wrong, message in {
        0: "`workers` is 0: expected 1 or more",
        "many": "`workers` is 'many': expected a number",
    }.items():
        with pytest.raises(ww.ArgumentError, match=message):
            tune(examples, workers=wrong)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(ww.ArgumentError, match="there is no GPU here"):
        sweeps.workers_of("gpus")
    named = {**SPACE, "device": "cuda"}
    with pytest.raises(ww.ArgumentError, match="side by side on a GPU cannot be timed"):
        ww.tune(examples / "transpose.py", "build(tile=?)", **named, workers=2)
    with pytest.raises(ww.ArgumentError, match="expected a number"):
        tune(examples, workers="gpus")


def test_there_is_a_worker_for_each_gpu(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0, 3")
    assert [each["CUDA_VISIBLE_DEVICES"] for each in sweeps.workers_of("gpus")._environments] == [
        "0",
        "3",
    ]


def test_trials_that_do_not_fit_are_refused(examples):
    question = ww._core.Question(
        "k.py", "build(tile=?)", ["tile=64,128"], [], [], [], "", "sim",
        (examples / "transpose.py").read_text(),
    )  # fmt: skip
    part = ww._core.tune_part(question, [1])
    for trials, message in (
        ([part], r"`build\(tile=64\)` was tried 0 times, expected once"),
        ([part, part], "was tried"),
        (["{}"], "trials that cannot be read"),
        (["x"], "trials that cannot be read"),
        ([part.replace('"choice":[1]', '"choice":[9]')], "trials of another space"),
        ([part, part.replace("the virtual GPU", "another")], "cannot be compared"),
    ):
        with pytest.raises(ww.ArgumentError, match=message):
            ww._core.tune_whole(question, trials)
    with pytest.raises(ww.ArgumentError, match="combination 7 of 2"):
        ww._core.tune_part(question, [7])


# --- Ray ---


def test_ray_gives_the_same_ranking_with_a_worker_killed(ray, examples, tmp_path):
    workers = Dying(sweeps.RayWorkers(), tmp_path / "mark")
    assert tune(examples, workers=workers).data == tune(examples).data


def test_ray_tells_what_a_task_raises(ray):
    with pytest.raises(ValueError, match="shard [01] is wrong"):
        list(sweeps.RayWorkers().run("tasks_for_tests:fail", range(2)))


# --- the soak ---

PROGRAM = """#!/bin/sh
echo "run $*"
case "$*" in *"--seed 3 "*) echo "1 finds"; exit 1;; esac
[ "$2" != 9 ] || { echo "no such thing" >&2; exit 2; }
echo "0 finds"
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "soak"
    file.write_text(PROGRAM)
    file.chmod(0o755)
    return str(file)


def test_the_soak_runs_a_shard_for_each_seed(program, capsys):
    arguments = ["--program", program, "--shards", "2", "--workers", "2", "--only", "scalars"]
    command = [sys.executable, "-m", "warpwright.soak", *arguments, "--seed", "1"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "seed 1: 0 finds" in printed and "seed 2: 0 finds" in printed
    assert soak.main([*arguments, "--seed", "2"]) == 1
    printed = capsys.readouterr().out
    assert "seed 3: 1 finds" in printed and "run --seed 3 --programs 100" in printed
    assert "--only scalars" in printed and "1 of 2 shards have finds" in printed


def test_the_soak_says_why_it_does_not_run(program, capsys):
    assert soak.main(["--program", "/nowhere/soak"]) == 2
    assert "`/nowhere/soak` is no file" in capsys.readouterr().err
    assert soak.main(["--program", program, "--seed", "9", "--shards", "1"]) == 2
    assert "ends with 2: no such thing" in capsys.readouterr().err
