"""The API reference builds without a warning, and every public name has documentation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[1] / "apidocs.py"


def test_reference(tmp_path):
    command = [sys.executable, str(PROGRAM), "--out", str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "site" / "blockyard.html").read_text()
    assert "Step every row with an action, and wait for the result" in text
    for module in ("sb3", "pettingzoo", "torchrl", "rllib"):
        assert (tmp_path / "site" / "blockyard" / f"{module}.html").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_silence_is_found(tmp_path):
    (tmp_path / "silent.py").write_text(
        '"""A module."""\nclass A:\n    """A class.\n\n    Attributes:\n        x: this.\n    """\n'
        "    def __init__(self):\n        self.x = 1\n        self.y = 1\n    def f(self): pass\ndef g(): pass\n"
    )
    code = "import sys; sys.path[:0] = sys.argv[1:]; import apidocs; print(*apidocs.undocumented('silent'))"
    command = [sys.executable, "-c", code, str(PROGRAM.parent), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["silent.A.y", "silent.A.f", "silent.g"]
