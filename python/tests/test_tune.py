# SPDX-License-Identifier: Apache-2.0
"""Choosing parameters on the virtual GPU."""

from __future__ import annotations

import numpy as np
import pytest

import warpwright as ww


def tune(examples, **named):
    options = {"space": {"tile": [64, 128]}, "expect": ["B == A.T"], "device": "sim", **named}
    return ww.tune(examples / "transpose.py", "build(tile=?)", **options)


def test_combinations_are_ranked_and_the_best_is_a_kernel(examples):
    calls = []
    result = tune(examples, progress=lambda done, total: calls.append((done, total)))
    assert result.parameters == {"tile": 64}
    assert [row["kernel"] for row in result.ranked] == ["build(tile=64)", "build(tile=128)"]
    assert "build(tile=?)" in str(result) and result._repr_html_().startswith("<pre>")
    assert calls == [(0, 2), (1, 2), (2, 2)]
    a = np.arange(128 * 128, dtype=np.float16).reshape(128, 128)
    b = np.zeros_like(a)
    result.best(a, out=b)
    assert (b == a.T).all()


def test_wrong_combinations_are_dropped_with_the_reason(examples):
    result = tune(examples, space={"tile": "63..64"})
    assert result.parameters == {"tile": 64} and len(result.dropped) == 1
    nothing = tune(examples, expect=["B == A"])
    assert nothing.best is None and nothing.parameters is None and len(nothing.dropped) == 2


def test_mistakes_are_refused(examples):
    with pytest.raises(ww.ArgumentError, match="--space"):
        tune(examples, space={"tiles": [64]})
    with pytest.raises(ww.ArgumentError, match="a value of `tile` cannot be tried"):
        tune(examples, space={"tile": [object()]})
    with pytest.raises(ww.ArgumentError, match="expected auto, sim or cuda"):
        tune(examples, device="tpu")
    with pytest.raises(ww.FileError, match="nowhere.py"):
        ww.tune("nowhere.py", "build(tile=?)", {"tile": [1]}, device="sim")


def test_an_error_of_the_progress_comes_out(examples):
    def fail(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tune(examples, progress=fail)


def test_a_bar_is_drawn(examples, capsys):
    tune(examples, progress=True)
    assert "2 of 2" in capsys.readouterr().err
