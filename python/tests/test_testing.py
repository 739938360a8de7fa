# SPDX-License-Identifier: Apache-2.0
"""`ww.testing` finds what is wrong, and nothing else."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from kernels_for_tests import SCALE, add, racy

import warpwright as ww
from warpwright import testing
from warpwright.testing import assert_matches


def test_a_right_kernel_matches():
    assert_matches(add, lambda a, b: a + b, [{"n": 1}, {"n": 200}])
    scale = ww.compile("scale.py", text=SCALE)
    assert_matches(scale, lambda x, by: x * by, [{"n": 3, "by": 5}], engines=["eval", "sim"])


def test_engine_shape_and_element_are_named():
    def wrong(a, b):
        out = a + b
        out[5] += 1
        return out

    for engine, name in (("eval", "the reference evaluator"), ("sim", "the virtual GPU")):
        with pytest.raises(AssertionError) as caught:
            assert_matches(add, wrong, [{"n": 7}], engines=[engine])
        text = str(caught.value)
        assert text.startswith(
            f"`C` on {name}, for {{'n': 7}} differs from the reference: element [5] is "
        )
        assert text.endswith("1 of 7 differ (rtol=0.0001, atol=0.0001)")


def test_wrong_references_are_found():
    with pytest.raises(AssertionError, match="gives 2 arrays: `add` writes 1"):
        assert_matches(add, lambda a, b: (a, b), [{"n": 7}])
    with pytest.raises(AssertionError, match=r"shape \(6,\) for `C`, which has \(7,\)"):
        assert_matches(add, lambda a, b: (a + b)[:-1], [{"n": 7}])
    with pytest.raises(AssertionError, match="element \\[0\\]"):
        assert_matches(add, lambda a, b: np.nan, [{"n": 7}])


def test_a_kernel_that_one_engine_gets_wrong_is_found(monkeypatch):
    right = ww.Kernel.check

    def broken(self, *args, **named):
        report = right(self, *args, **named)
        args[-1][2] = 100
        return report

    monkeypatch.setattr(ww.Kernel, "check", broken)
    with pytest.raises(AssertionError, match="`C` on the virtual GPU, for .* \\[2\\] is 100"):
        assert_matches(add, lambda a, b: a + b, [{"n": 7}])


def test_findings_are_found():
    for engine in ("eval", "sim"):
        with pytest.raises(ww.FindingError, match="race"):
            assert_matches(racy, lambda a: a[::-1], engines=[engine])


def test_engines_must_be_there():
    with pytest.raises(ww.ArgumentError, match="`engines` has 'gpu': expected eval, sim, cuda"):
        assert_matches(add, lambda a, b: a + b, [{"n": 7}], engines=["gpu"])


def test_elements_of_ml_dtypes_need_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ww.ArgumentError, match="arrays of bfloat17 need .*`pip install ml_dtypes`"):
        testing._numpy_dtype("bfloat17")


def test_extents_need_values():
    with pytest.raises(ValueError, match="no value for the extent `n` of `X`"):
        assert_matches(ww.compile("scale.py", text=SCALE), lambda x: x)
