# SPDX-License-Identifier: Apache-2.0
"""Kernels from files and texts: their forms, and what is wrong with them."""

from __future__ import annotations

import pickle

import numpy as np
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


ROWS = """
from tvm.script import tirx as T

@T.prim_func
def rows(K: T.int32, X_ptr: T.handle, Y_ptr: T.handle):
    n = T.int32()
    cols: T.let = K * 4
    X = T.match_buffer(X_ptr, (n, cols), "int32")
    Y = T.match_buffer(Y_ptr, (n, K * 4), "int32")
    T.device_entry()
    bx, by = T.cta_id([n, T.ceildiv(cols, 32)])
    lane = T.thread_id([32])
    if by * 32 + lane < cols:
        Y[bx, by * 32 + lane] = X[bx, by * 32 + lane] + 1
"""


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 10), (5, 16)])
def test_the_launch_description_gives_the_grid_of_runs(n, k):
    kernel = ww.compile("rows.py", text=ROWS)
    x = np.zeros((n, 4 * k), np.int32)
    report = kernel.check(k, x, np.zeros_like(x))
    launch = kernel.launch
    values: dict = {"K": k}
    shapes = {"X": x.shape, "Y": x.shape}
    for row in launch["params"]:
        if row["kind"] == "extent":
            (values[row["name"]],) = {shapes[f["param"]][f["dim"]] for f in row["from"]}
    for row in launch["let"]:
        values[row["name"]] = eval(row["value"], {}, values)
    grid = tuple(each if isinstance(each, int) else eval(each, {}, values) for each in launch["grid"])
    assert (grid, tuple(launch["block"])) == (report.grid, report.block)
    assert [row["name"] for row in launch["params"]] == ["K", "X", "Y", "n"]
    assert f".entry {launch['entry']}(" in kernel.ptx


def test_files_of_the_folder_are_imported(tmp_path):
    (tmp_path / "sizes.py").write_text("ROWS = 8\n")
    text = SCALE.replace("\n", "\nfrom sizes import ROWS\n", 1)
    (tmp_path / "scale.py").write_text(text)
    first = ww.compile(tmp_path / "scale.py")
    assert first.params[0]["name"] == "X"
    # Another text of the imported file is another kernel.
    (tmp_path / "sizes.py").write_text("def broken(:\n")
    with pytest.raises(ww.CompileError, match="sizes.py:1:"):
        ww.compile(tmp_path / "scale.py")
