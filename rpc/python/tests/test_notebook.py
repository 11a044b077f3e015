"""The notebook of examples/ runs, and shows what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

nbclient = pytest.importorskip("nbclient", reason="pip install 'blockyard[test]'")
pytest.importorskip("ipykernel")


def test_afternoon(tmp_path, program, monkeypatch):
    import nbformat

    monkeypatch.setenv("BLOCKYARD_SERVER", str(program))
    notebook = nbformat.read(EXAMPLES / "afternoon.ipynb", as_version=4)
    training = [cell for cell in notebook.cells if cell.source.startswith("seconds = 60\n")]
    assert len(training) == 1
    training[0].source = training[0].source.replace("60", "0.1", 1)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [[out.get("data", {}) for out in cell.outputs] for cell in code]
    assert "<svg" in shown[1][-1]["text/html"]
    assert "200" in shown[4][-1]["text/plain"]
    assert "image/svg+xml" in shown[6][-1]
    assert "<iframe" in shown[7][-1]["text/html"]
