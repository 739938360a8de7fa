# SPDX-License-Identifier: Apache-2.0
"""The notebook of the examples, executed from its first cell to its last; what it shows is checked."""

from __future__ import annotations

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


@pytest.fixture(scope="module")
def executed(request):
    """The last output of each cell that has one, in their order."""
    folder = request.config.rootpath / "examples" / "notebooks"
    notebook = nbformat.read(folder / "tour.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells), (
        "the notebook is kept without outputs"
    )
    where = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, kernel_name="python3", resources=where).execute()
    return [cell.outputs[-1] for cell in cells if cell.outputs]


def test_the_notebook_shows_its_results(executed):
    layout, printed, explanation, report, tuned = executed
    assert layout["data"]["image/svg+xml"].startswith("<svg")
    assert printed["text"] == "True\n"
    assert "chosen" in explanation["data"]["text/html"]
    assert "race: " in report["data"]["text/html"]
    assert "with nothing to order the two" in report["data"]["text/html"]
    assert "B[t] = staged[63 - t]" in report["data"]["text/html"]
    assert "2 right, 0 dropped" in tuned["data"]["text/html"]
