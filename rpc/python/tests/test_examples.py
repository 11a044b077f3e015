"""The examples run unchanged."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import programs
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

ROADS = ["inproc", "socket", *(["shm"] if sys.platform.startswith("linux") else [])]


def test_quickstart(tmp_path):
    """It prints the same over each transport, which its environment names."""
    plain = programs.printed(EXAMPLES / "quickstart.py", cwd=tmp_path)
    assert "round" in plain
    assert "(1024, 2, 20, 10)" in plain
    code = (EXAMPLES / "quickstart.py").read_text(encoding="utf-8") + "print(env.transport)\n"
    for road in ROADS:
        over = code.replace("seed=7", f"seed=7, transport={road!r}")
        assert programs.printed("-c", over, cwd=tmp_path) == f"{plain}{road}\n"


@pytest.mark.parametrize("road", [*ROADS[:2], *(pytest.param(road, marks=pytest.mark.slow) for road in ROADS[2:])])
def test_demo_policy(road, tmp_path):
    """As `make demo` runs it, which names the transport."""
    args = ["--transport", road, "--seconds", "0.5", "--games", "64", "--eval-games", "16", "--out", "w.npz"]
    out = programs.printed(EXAMPLES / "demo_policy.py", *args, cwd=tmp_path)
    assert f"64 games, steps over {road}" in out
    assert "after training" in out
    weights = np.load(tmp_path / "w.npz")
    assert weights["fc0.weight"].shape[1] == 32
    assert all(np.isfinite(weights[k]).all() for k in weights)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["w.npz", "w.npz.run.json"]


@pytest.mark.parametrize("game", ["BlockBattle-v0", "WinTetris-v0"])
def test_graded_data(game, tmp_path):
    """Each grade has its score, and games that all differ, also those of agents without randomness."""
    args = ["--game", game, "--games", "4", "--eval-games", "4", "--out", "data"]
    out = programs.printed(EXAMPLES / "graded_data.py", *args, cwd=tmp_path)
    folder = tmp_path / "data" / game
    about = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    grades = about["grades"]
    assert list(grades) == [line.split()[0] for line in out.splitlines()] == ["random", "medium", "hand", "learned"]
    assert (grades["random"]["normalised"], grades["learned"]["normalised"]) == (0, 100)
    assert 0 < grades["medium"]["normalised"] < grades["hand"]["normalised"]
    for grade, entry in grades.items():
        games = [json.loads(line) for line in gzip.decompress((folder / f"{grade}.jsonl.gz").read_bytes()).splitlines()]
        assert len({json.dumps(one["choices"]) for one in games}) == 4
        assert {agent for one in games for agent in one["agents"]} == {entry["agent"]}
        assert sum(len(one["choices"]) for one in games) == entry["rows"]
    if game == "BlockBattle-v0":  # what is there is not made again
        before = {path: path.stat().st_mtime_ns for path in folder.glob("*/meta/*")}
        assert programs.printed(EXAMPLES / "graded_data.py", *args, cwd=tmp_path) == out
        assert before == {path: path.stat().st_mtime_ns for path in folder.glob("*/meta/*")}


def test_demo_features(monkeypatch):
    """The tabulated features of one board, counted by hand, and of random boards, computed slowly."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import demo_policy as demo

    board = np.zeros((20, 10), np.uint8)
    board[19, :9] = 1
    board[17, 0] = 2
    f = demo.board_features(board[None])[0]
    assert round(float(f[16]) * 20) == 1  # cells above holes, here one
    assert round(float(f[17]) * 60) == 2 + 0 + 2  # changes in rows 17, 18 (empty, not counted) and 19
    rng = np.random.default_rng(0)
    boards = (rng.random((50, 20, 10)) < rng.random((50, 1, 1))).astype(np.uint8)
    f = demo.board_features(boards)
    for board, row in zip(boards, f, strict=True):
        tops = [next((20 - y for y in range(20) if board[y, x]), 0) for x in range(10)]
        holes = [sum(not board[y, x] for y in range(20 - tops[x], 20)) for x in range(10)]
        np.testing.assert_allclose(row[:10] * 20, tops, atol=1e-4)
        np.testing.assert_allclose(row[14] * 20, sum(holes), atol=1e-3)
        np.testing.assert_allclose(row[12] * 30, np.abs(np.diff(tops)).sum(), atol=1e-3)
