"""A network trained in PyTorch plays in the arena and in a contest, by the commands of docs/contest.md alone."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "rpc/python/docs/contest.md").read_text(encoding="utf-8")


def run(command: str, tmp_path: Path) -> str:
    """Run a command of the page in the root of the checkout, with its files in tmp_path."""
    words = [word.replace("mine.safetensors", f"{tmp_path}/mine.safetensors") for word in shlex.split(command)]
    words = [f"{tmp_path}/{word.split('bin/')[1]}" if re.match(r"(\./)?bin/", word) else word for word in words]
    words[:1] = [sys.executable] if words[0] == "python" else [sys.executable, "-m", "blockyard"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_the_commands_of_the_page(tmp_path):
    """The page's commands in order; only the training is shorter."""
    train, arena, bundle, host = re.findall(r"^    ((?:python|blockyard) .*)", PAGE, re.M)
    out = run(f"{train} --games 300 --eval-games 40", tmp_path)
    won, against_hand = (float(x) for x in re.findall(r"^score +([\d.]+) %", out, re.M))
    assert won > 80
    assert against_hand < won
    assert "mine.safetensors against hand, seed 1\ngames   200: " in run(arena, tmp_path)
    out = run(bundle, tmp_path)
    assert "exact" in out
    assert "no breach of protocol" in out
    table = run(host, tmp_path)
    mine = next(line for line in table.splitlines() if re.match(r"A  +\d+  ", line))
    header = next(line for line in table.splitlines() if line.startswith("bot "))
    # The last column is empty where nothing was lost.
    numbers = dict(zip(re.split(r"  +", header), re.split(r"  +", mine), strict=False))
    assert "distinct games: 2 of 2" in table
    assert 1 <= float(numbers["mean rank"]) <= 2
    assert (numbers["time-outs"], numbers["remarks"], numbers["ended"]) == ("0", "0", "0")
