# SPDX-License-Identifier: Apache-2.0
"""The blocks of pages about Python, executed in order; each must print the text behind it.

Blocks marked `tvm` or `torch` need these packages. They are executed by themselves, and skipped where the
package is not installed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import warpwright as ww

PAGES = ["python.md", "from_triton.md", "from_tirx.md"]
MARK = "-- end of a block --"
BLOCK = re.compile(r"^```(python|text)( tvm| torch)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, mark: str = "") -> list[tuple[str, str]]:
    """Code with what it is expected to print, in the order of the page."""
    out: list[tuple[str, str]] = []
    for kind, its_mark, text in BLOCK.findall((ROOT / "docs" / "guide" / page).read_text()):
        if its_mark.strip() != mark:
            continue
        if kind == "python":
            out.append((text, ""))
        else:
            out[-1] = (out[-1][0], text)
    return out


def execute(folder: Path, page: list[tuple[str, str]]) -> None:
    file = folder / "page.py"
    file.write_text("".join(f"{code}\nprint({MARK!r})\n" for code, _ in page))
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run(
        [sys.executable, file],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(ww.__file__).resolve().parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(MARK + "\n")
    assert printed[:-1] == [text for _, text in page]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_prints_what_it_says(tmp_path, name):
    page = blocks(name)
    assert len(page) >= 3
    execute(tmp_path, page)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_the_blocks_of_torch_print_what_they_say(tmp_path):
    execute(tmp_path, blocks("python.md", "torch"))


@pytest.mark.skipif(importlib.util.find_spec("tvm") is None, reason="TVM is not installed")
def test_the_blocks_of_tvm_print_what_they_say(tmp_path):
    text = next(code for code, _ in blocks("from_tirx.md") if "TEXT = " in code)
    scope: dict[str, str] = {}
    exec(text[: text.index("import numpy")], scope)
    (tmp_path / "through.py").write_text(scope["TEXT"])
    execute(tmp_path, blocks("from_tirx.md", "tvm"))
