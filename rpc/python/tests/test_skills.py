"""The commands of the skills run, as they stand there but for the time of training, from the first to the last."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

SKILLS = ROOT / "rpc/python/docs/skills"


def run(name: str, folder: Path, path: str) -> str:
    """Run the commands of a skill in a folder, with the package and the programs of a path; return their output."""
    script = "".join(re.findall(r"^```sh\n(.*?)^```", (SKILLS / name / "SKILL.md").read_text("utf-8"), re.M | re.S))
    script, trainings = re.subn(r"--for \d+s", "--for 1s", script)
    assert trainings == 1
    flags = f"{os.environ.get('GOFLAGS', '')} -ldflags=-w"  # nobody debugs the program, whose symbols take 2 s to link
    env = os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), path]), "GOFLAGS": flags}
    command = ["bash", "-euxo", "pipefail", "-c", script]
    with (folder / "out.txt").open("w+") as out:  # not a pipe, which what a command leaves behind would keep open
        done = subprocess.run(command, cwd=folder, env=env, timeout=1200, stdout=out, stderr=out, check=False)
        out.seek(0)
        said = out.read()
    assert done.returncode == 0, said
    return said


@pytest.mark.parametrize("path", sorted(SKILLS.iterdir()), ids=lambda path: path.name)
def test_form(path: Path):
    """A skill is a folder with a SKILL.md whose head has the name of the folder, and says when to use it."""
    head = re.match(r"---\nname: (.+)\ndescription: (.+)\n---\n\n# ", (path / "SKILL.md").read_text("utf-8"))
    assert head
    assert head[1] == path.name
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", path.name)
    assert "Use when" in head[2]
    assert len(head[2]) <= 1024


def test_write_a_bot(tmp_path: Path):
    """In an empty folder, with the package and without Go."""
    said = run("write-a-bot", tmp_path, "/usr/bin:/bin")
    assert ". Protocol" in (tmp_path / "rules.md").read_text("utf-8")
    host = said.partition("time-outs")[2].splitlines()
    assert host[1].split()[0] == "A"
    assert host[1].split()[4:6] == ["0", "0"], "no remark, not ended"
    assert "games.jsonl.gz: 10 games, 0 differ" in said
    assert 50_000 < (tmp_path / "mine.go").stat().st_size <= 100_000


def test_add_a_game(tmp_path: Path):
    """In a copy of this checkout, where the game then is one like the others."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    said = run("add-a-game", tmp_path, os.environ["PATH"])
    score = re.search(r"^score +([\d.]+) %", said, re.M)
    assert score
    assert float(score[1]) > 85
    assert "games.jsonl.gz: 40 games, 0 differ" in said
    assert "MyGame-v0" in said
    assert (tmp_path / "env/envtest/testdata/mygame.txt").stat().st_size > 1000
    assert (tmp_path / "runs/mygame/best.safetensors").exists()
