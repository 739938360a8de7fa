# SPDX-License-Identifier: Apache-2.0
"""Programs as people write them (triton_programs/): right ones are clean on every target, planted faults are found where
they are. `WW_CHECK_TARGETS=sm_80,sm_90a` names the targets; without it, as `./test` without `--thorough`, all are skipped."""

from __future__ import annotations

import os

import pytest

triton = pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from triton_programs import as_tutorials, faults, faults_of_values, planted, right  # noqa: E402, F401

VERSION = tuple(map(int, triton.__version__.split(".")[:2]))
if VERSION > (3, 4):
    from triton_programs import gluon_faults  # noqa: F401

from warpwright import check  # noqa: E402

if "WW_CHECK_TARGETS" not in os.environ:
    pytest.skip("WW_CHECK_TARGETS names no target", allow_module_level=True)
TARGETS = os.environ["WW_CHECK_TARGETS"].split(",")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", [*right.PROGRAMS, *as_tutorials.PROGRAMS], ids=lambda each: each.__name__)
def test_right_programs_are_clean(program, target):
    if program in right.NEED_TORCH_2 + as_tutorials.NEED_TORCH_2 and not hasattr(torch.float16, "itemsize"):
        pytest.skip("needs PyTorch 2")
    session = check.run(program, target=target)
    assert (session.status, session.findings.list()) == (0, []), session.findings.text()
    assert session.findings.launches > 0


def assert_found(program, session):
    kind, lines = planted.marks(program)
    found = [each for each in session.findings.list() if each.check == kind]
    assert session.status == 1 and found, session.findings.text()
    places = {place.line for each in found for place in (each.place, each.other_place) if place is not None}
    assert places & lines, session.findings.text()


@pytest.mark.parametrize("program", planted.PROGRAMS, ids=lambda each: each.__name__)
def test_planted_faults_are_found(program):
    is_endless = planted.marks(program)[0] == "hang"
    assert_found(program, check.run(program, time=2 if is_endless else 300))


def on_targets(programs):
    def param(program, target):
        reason = "Gluon before {}.{} has another interface".format(*program.since)
        old = pytest.mark.skipif(VERSION < program.since, reason=reason)
        return pytest.param(program, target, id=f"{program.__name__}-{target}", marks=old)

    return [param(program, target) for program in programs for target in program.targets if target in TARGETS]


@pytest.mark.skipif(VERSION < (3, 5), reason="Gluon before 3.5 has another interface: none of its programs run")
def test_gluon_has_programs():
    assert planted.GLUON and planted.GLUON_RIGHT


@pytest.mark.parametrize(("program", "target"), on_targets(planted.GLUON_RIGHT))
def test_right_programs_in_gluon_are_clean(program, target):
    session = check.run(program, target=target)
    assert (session.status, session.findings.list()) == (0, []), session.findings.text()


@pytest.mark.parametrize(("program", "target"), on_targets(planted.GLUON))
def test_faults_planted_in_gluon_are_found(program, target):
    assert_found(program, check.run(program, target=target))
