# SPDX-License-Identifier: Apache-2.0
"""The blocks of pages about Python, executed in order; each must print the text behind it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import warpwright as ww

PAGES = ["python.md", "from_triton.md"]
MARK = "-- end of a block --"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    """Code with what it is expected to print, in the order of the page."""
    out: list[tuple[str, str]] = []
    for kind, text in BLOCK.findall((ROOT / "docs" / "guide" / page).read_text()):
        if kind == "python":
            out.append((text, ""))
        else:
            out[-1] = (out[-1][0], text)
    return out


@pytest.mark.parametrize("name", PAGES)
def test_the_page_prints_what_it_says(tmp_path, name):
    page = blocks(name)
    assert len(page) >= 3
    file = tmp_path / "page.py"
    file.write_text("".join(f"{code}\nprint({MARK!r})\n" for code, _ in page))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run(
        [sys.executable, file],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(ww.__file__).resolve().parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(MARK + "\n")
    assert printed[:-1] == [text for _, text in page]
