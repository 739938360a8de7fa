# SPDX-License-Identifier: Apache-2.0
"""Kernels from files and texts: their forms, and what is wrong with them."""

from __future__ import annotations

import pickle

import pytest
from kernels_for_tests import SCALE

import warpwright as ww


def test_forms_of_a_kernel(examples):
    kernel = ww.compile(examples / "transpose.py")
    assert kernel.name == "transpose"
    assert ".visible .entry transpose" in kernel.ptx
    assert "ldmatrix" in kernel.ptx
    assert "__global__" in kernel.cuda
    assert "def transpose" in kernel.ir and "ldmatrix" in kernel.ir
    assert "Tx.cta.copy" in kernel.tile
    assert kernel.target == "sm_90a, PTX 9.0"
    assert repr(kernel).startswith("<Kernel transpose(A: float16[128, 128]")


def test_explanation_has_text_data_and_html(examples):
    explanation = ww.compile(examples / "transpose.py").explain()
    assert "declined" in str(explanation)
    assert [call["chosen"] for call in explanation.data["primitives"]].count("ldstmatrix") == 2
    assert explanation._repr_html_().startswith("<pre>")


def test_registers_are_a_number_or_none(examples):
    registers = ww.compile(examples / "transpose.py").registers
    assert registers is None or 8 <= registers <= 255


def test_parameters_are_named():
    kernel = ww.compile("scale.py", text=SCALE)
    assert [row["name"] for row in kernel.params] == ["X", "Y", "by"]
    assert kernel.params[0]["shape"] == ("n", "4")
    assert [row["writes"] for row in kernel.params] == [False, True, False]


def test_mistakes_have_the_place_of_the_command_line(examples):
    with pytest.raises(ww.CompileError) as caught:
        ww.compile(examples / "errors" / "wrong.py")
    assert f"{examples}/errors/wrong.py:" in str(caught.value)
    assert "error:" in str(caught.value) and "^" in str(caught.value)


def test_unknown_names_are_refused(examples):
    with pytest.raises(ww.CompileError, match="did you mean `build`"):
        ww.compile(examples / "transpose.py", "bild()")
    with pytest.raises(ww.ArgumentError, match="`target` is 'sm_1': expected one of auto"):
        ww.compile(examples / "transpose.py", target="sm_1")
    with pytest.raises(ww.FileError, match="nowhere.py"):
        ww.compile("nowhere.py")
    with pytest.raises(OSError):
        ww.compile("nowhere.py")


def test_kernels_can_be_pickled():
    kernel = ww.compile("scale.py", text=SCALE)
    again = pickle.loads(pickle.dumps(kernel))
    assert again.ptx == kernel.ptx and again.params == kernel.params
