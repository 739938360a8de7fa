# SPDX-License-Identifier: Apache-2.0
"""What the front end computes while it compiles is what Python computes."""
import ast
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "tests/golden/script/host/like_python.py"
SOURCE = PROGRAM.read_text().partition("#--- expected")[0]
FACTS = [each for each in ast.parse(SOURCE).body
         if isinstance(each, ast.FunctionDef) and each.name != "build"]


@pytest.mark.parametrize("facts", FACTS, ids=lambda each: each.name)
def test_facts_hold(facts):
    names = {}
    exec(compile(ast.Module([facts], []), str(PROGRAM), "exec"), names)  # noqa: S102
    names[facts.name]()
