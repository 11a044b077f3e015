"""A network trained in PyTorch plays in the arena and in a contest, by the commands of docs/contest.md alone."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import programs
import pytest
from conftest import ROOT

PATIENT = "--timebank 10m"  # on a busy machine, Python may start later than the contest allows
PAGE = (ROOT / "rpc/python/docs/contest.md").read_text(encoding="utf-8")


def run(command: str, tmp_path: Path) -> str:
    """Run a command of the page in the root of the checkout, with its files in tmp_path."""
    words = [word.replace("mine.safetensors", f"{tmp_path}/mine.safetensors") for word in shlex.split(command)]
    words = [f"{tmp_path}/{word.split('bin/')[1]}" if re.match(r"(\./)?bin/", word) else word for word in words]
    words[:1] = [] if words[0] == "python" else ["-m", "blockyard"]
    return programs.printed(*words, cwd=ROOT, timeout=600)


@pytest.mark.slow
def test_the_commands_of_the_page(tmp_path):
    """The page's commands in order; only the training is shorter."""
    train, arena, bundle, host = re.findall(r"^    ((?:python|blockyard) .*)", PAGE.split("\n## ")[1], re.M)
    out = run(f"{train} --games 300 --eval-games 40", tmp_path)
    won, against_hand = (float(x) for x in re.findall(r"^score +([\d.]+) %", out, re.M))
    assert won > 80
    assert against_hand < won
    assert "mine.safetensors against hand, seed 1\ngames   200: " in run(arena, tmp_path)
    out = run(bundle, tmp_path)
    assert "exact" in out
    assert "no breach of protocol" in out
    played = json.loads(run(f"{host} --json {PATIENT}", tmp_path))
    mine, program = played["players"][0], played["players"][0]["program"]
    assert played["distinct"] == 2
    assert 1 <= mine["mean_rank"]["value"] <= 2
    assert (program["timeouts"], program["remarks"], program["ended_early"]) == (0, 0, 0)


def test_a_policy_as_it_is(tmp_path):
    """The policy of the page plays, and one that plays as an agent of the program plays the same games."""
    section = next(part for part in PAGE.split("\n## ") if part.startswith("A policy as it is"))
    code = re.findall(r"^```python\n(.*?)^```", section, re.M | re.S)[0]
    code += "\n\ndef lowest(obs, mask):\n    print(obs['planes'].shape, input)\n    return mask.argmax(1)\n"
    code += "\n\ndef illegal(obs, mask):\n    return (~mask).argmax(1)\n"
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")

    def played(command: str) -> subprocess.CompletedProcess[str]:
        return programs.run("-m", "blockyard", *shlex.split(command), cwd=tmp_path)

    bot, host, arena = re.findall(r"^    blockyard (.*)", section, re.M)
    assert "distinct games: 2 of 2" in played(f"{host} {PATIENT}").stdout
    assert (
        "games   2: "
        in played(re.sub("--games [0-9]+", "--games 2", arena).replace("blockbattle", "tetrisduel")).stdout
    )
    out = played(f"tournament blockbattle mine.py:make first --out out --games 2 {PATIENT}").stdout
    assert "not taking part" not in out, out
    same = played("arena blockbattle --a mine.py:lowest --b first --games 2 --json")
    assert json.loads(same.stdout)["players"][0]["draws"] == 2, same.stdout + same.stderr
    assert played(bot).returncode == 0
    bad = "policy mine.txt: want FILE.py:NAME, a .zip of MaskablePPO.save, or an .onnx"
    for command, agent, want in (
        ("blockyard bot blockbattle --agent", "policy:mine.txt", bad),
        ("blockyard.commands.policy", "mine.py:nothing", "policy mine.py:nothing: mine.py has no function nothing"),
        ("blockyard.commands.policy", "none.py:make", "policy none.py:make: there is no file none.py"),
    ):
        failed = programs.run("-m", *command.split(), agent, cwd=tmp_path)
        assert (failed.returncode, failed.stderr.splitlines()[0]) == (1, want)
    lost = played(f"host blockbattle --bot mine.py:illegal --bot first --games 1 {PATIENT}").stdout
    assert "which is not legal: choose among the" in lost
