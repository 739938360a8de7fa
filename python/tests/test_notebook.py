# SPDX-License-Identifier: Apache-2.0
"""A notebook from its first cell to its last: kernels in cells, reports and pictures as output."""

from __future__ import annotations

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

CELLS = [
    "import numpy as np, warpwright as ww\nfrom warpwright.lang import T\nSTEP = 3",
    """@ww.kernel
def fill(A: ww.Tensor[32, "int32"]):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = t * STEP""",
    "a = np.zeros(32, np.int32)\nfill(a, check=True)\nprint(a[:4])",
    "fill.check(a)",
    "fill.explain()",
    'ww.Layout("S[(8,4,2):(4@laneid,1@laneid,1)]")',
]


def test_a_notebook_runs_and_shows_its_results(tmp_path):
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, kernel_name="python3", resources=where).execute()
    printed, report, explanation, layout = (
        cell["outputs"][0] for cell in notebook["cells"][2:]
    )
    assert printed["text"] == "[0 3 6 9]\n"
    assert "findings    none" in report["data"]["text/html"]
    assert explanation["data"]["text/html"].startswith("<pre>")
    assert layout["data"]["image/svg+xml"].startswith("<svg")
