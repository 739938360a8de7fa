# SPDX-License-Identifier: Apache-2.0
"""Programs as people write them (triton_programs/): right ones are clean on every target, planted faults are found where
they are. `WW_CHECK_TARGETS=sm_80,sm_90a` names the targets; without it, as `./test` without `--thorough`, all are skipped."""

from __future__ import annotations

import os
import pathlib
import re

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from triton_programs import faults, faults_of_values, planted, right  # noqa: E402, F401

from warpwright import check  # noqa: E402

if "WW_CHECK_TARGETS" not in os.environ:
    pytest.skip("WW_CHECK_TARGETS names no target", allow_module_level=True)
TARGETS = os.environ["WW_CHECK_TARGETS"].split(",")


def marks(kernel) -> tuple[str, int, set[int]]:
    """The kind of fault, its line, and other lines that may be named."""
    source = pathlib.Path(kernel.fn.__code__.co_filename).read_text().splitlines()
    first = kernel.fn.__code__.co_firstlineno
    kind, line, also = "", 0, set()
    for number in range(first, len(source) + 1):
        text = source[number - 1]
        if number > first and re.match(r"@(program|triton)|def (?!\w+_kernel)", text):
            break
        if found := re.search(r"# fault: (\w+)", text):
            kind, line = found[1], number
        elif "# also" in text:
            also.add(number)
    return kind, line, also


def kernels_of(program) -> list:
    return [program.__globals__[name] for name in program.__code__.co_names if name.endswith("_kernel")]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", right.PROGRAMS, ids=lambda each: each.__name__)
def test_right_programs_are_clean(program, target):
    if program in right.NEED_TORCH_2 and not hasattr(torch.float16, "itemsize"):
        pytest.skip("needs PyTorch 2")
    session = check.run(program, target=target)
    assert (session.status, session.findings.list()) == (0, []), session.findings.text()
    assert session.findings.launches > 0


@pytest.mark.parametrize("program", planted.PROGRAMS, ids=lambda each: each.__name__)
def test_planted_faults_are_found(program):
    kind, line, also = marks(kernels_of(program)[-1])
    session = check.run(program, seconds=2 if kind == "hang" else 300)
    if kind == "hang":  # the time is over, or nobody can go on
        assert session.status == 2 or session.findings.list()
        return
    if program in faults_of_values.MISSED and not session.findings.list():
        pytest.xfail("Triton's PTX loads a zero where nothing is loaded")
    found = [each for each in session.findings.list() if each.check == kind]
    assert session.status == 1 and found, session.findings.text()
    places = {place.line for each in found for place in (each.place, each.other_place) if place is not None}
    assert places & {line, *also}, session.findings.text()
