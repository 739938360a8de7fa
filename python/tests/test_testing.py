# SPDX-License-Identifier: Apache-2.0
"""`ww.testing` finds what is wrong, and nothing else."""

from __future__ import annotations

import pytest
from kernels_for_tests import SCALE, add, racy

import warpwright as ww
from warpwright.testing import assert_matches


def test_a_right_kernel_matches():
    assert_matches(add.specialize(), lambda a, b: a + b, [{"n": 1}, {"n": 200}])


def test_a_wrong_reference_is_found():
    with pytest.raises(AssertionError, match="`C` differs from the reference for {'n': 7}"):
        assert_matches(add.specialize(), lambda a, b: a - b, [{"n": 7}])
    with pytest.raises(AssertionError, match="gives 2 arrays: `add` writes 1"):
        assert_matches(add.specialize(), lambda a, b: (a, b), [{"n": 7}])


def test_findings_are_found():
    with pytest.raises(ww.FindingError, match="race"):
        assert_matches(racy.specialize(), lambda a: a[::-1])


def test_extents_need_values():
    with pytest.raises(ValueError, match="no value for the extent `n` of `X`"):
        assert_matches(ww.compile("scale.py", text=SCALE), lambda x: x)
