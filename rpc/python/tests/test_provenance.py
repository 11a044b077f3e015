"""Results say how they were made."""

from __future__ import annotations

import json
import platform
import re
import sys
from datetime import datetime, timezone

import pytest
from conftest import ROOT

import blockyard
from blockyard.provenance import write_run


def test_beside_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/ppo.py", "--seed", "7"])
    path = write_run(tmp_path / "policy.pt", seed=2**64 - 1)
    assert [p.name for p in tmp_path.iterdir()] == [path.name] == ["policy.pt.run.json"]
    run = json.loads(path.read_text())
    assert (run["program"], run["command"]) == ("ppo.py", ["--seed", "7"])
    assert run["seed"] == str(2**64 - 1)
    assert run["release"]["version"] == blockyard.__version__
    commit = run["release"].get("commit", "")
    assert re.fullmatch(r"([0-9a-f]{40}(\+modified)?)?", commit)
    assert bool(commit) == (ROOT / ".git").exists()
    assert run["release"]["python"] == platform.python_version()
    assert datetime.fromisoformat(run["started"].replace("Z", "+00:00")) <= datetime.now(timezone.utc)
    assert run["seconds"] >= 0
    assert "seed" not in json.loads(write_run(tmp_path / "policy.pt").read_text())


def test_nothing_is_left_after_a_failure(tmp_path):
    (tmp_path / "policy.pt.run.json").mkdir()
    with pytest.raises(OSError, match=r"run\.json"):
        write_run(tmp_path / "policy.pt")
    assert [p.name for p in tmp_path.iterdir()] == ["policy.pt.run.json"]
