"""Stored rollouts give the same rewards again, and changed ones are found."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from typing import Any

import programs

from blockyard.commands.reverify import _serving


def ask(url: str, path: str, body: Any = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url + path, data)) as answer:
        return dict(json.load(answer))


def rollout(flags: tuple[str, ...], **reset: Any) -> dict[str, Any]:
    """Play a few moves, with an illegal one and a branch, and return the state."""
    with _serving(flags) as url:
        seen = ask(url, "/reset", reset)
        for k in range(4):
            seen = ask(url, "/step", {"action": {"move": "no" if k == 1 else seen["observation"]["legal_moves"][k]}})
        call = {"type": "call_tool", "tool_name": "fork", "arguments": {"n": 1, "seed": 3}}
        branch = ask(url, "/step", {"action": call})["observation"]["result"]["branches"][0]
        legal = seen["observation"]["legal_moves"]
        ask(url, "/step", {"action": {"move": legal[0]}, "episode_id": branch})
        return ask(url, f"/state?episode_id={branch}")


def reverify(*arguments: str) -> subprocess.CompletedProcess[str]:
    return programs.run("-m", "blockyard", "reverify", *arguments)


def test_reverify(tmp_path):
    file, fresh = tmp_path / "rollouts.jsonl", tmp_path / "again.jsonl"
    duel = ("--game=TetrisDuel-v0", "--opponents=random", "--illegal-penalty=0.5")
    rollouts = [
        rollout(duel, seed=1, seat=1, rules="relabelled"),
        rollout(("--game=Dropblox-v0",), seed=2),
    ]
    assert rollouts[0]["rewards"][1] == -0.5
    file.write_text("".join(json.dumps(r) + "\n" for r in rollouts))
    done = reverify(str(file), "--write", str(fresh))
    assert done.returncode == 0, done.stderr
    assert "2 rollouts, 0 with other rewards" in done.stdout
    assert [json.loads(line) for line in fresh.read_text().splitlines()] == rollouts
    rollouts[1]["rewards"][0] += 1
    file.write_text("".join(json.dumps(r) + "\n" for r in rollouts))
    done = reverify(str(file))
    assert done.returncode == 1
    assert f"{file}:2: rewards" in done.stdout
    for text, says in (("{", "line 1"), ("{}", "line 1 has no game"), ("3", "line 1")):
        file.write_text(text)
        done = reverify(str(file))
        assert (done.returncode, says in done.stderr) == (1, True), done.stderr
