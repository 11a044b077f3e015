"""A recorded game in a notebook, looked at in a real browser; the whole way from an environment to other formats."""

from __future__ import annotations

import gzip
import html
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import GAME
from test_recording import check, random_steps, records

import blockyard


def browser():
    """The browser that the replay page is tested in; there must be one."""
    names = [os.environ.get("CHROMIUM", ""), "chromium-headless-shell", "headless-shell"]
    names += ["chromium", "chromium-browser", "google-chrome", "chrome"]
    found = next(filter(None, map(shutil.which, filter(None, names))), None)
    assert found, "install Chromium (Debian: chromium-headless-shell) or name one in the environment variable CHROMIUM"
    return found


def document(path):
    """Return the document that the browser makes of a file, once its scripts have run."""
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += ["--virtual-time-budget=20000", "--dump-dom", path.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


@pytest.fixture(scope="module")
def played(server, tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "games.jsonl.gz"
    with blockyard.make_vec(
        GAME, 8, address=server.unix, record={"path": path, "every": 1, "players": "my ppo"}
    ) as env:
        random_steps(env, 100)
    assert len(records(path)) > 5
    return path


def test_one_call(server, played, tmp_path):
    shown = blockyard.view(played)
    assert (shown.game, shown.agents, shown.name) == ("blockbattle", ("my ppo", "random"), "games.jsonl.gz#1")
    frame = shown._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts" title="games.jsonl.gz#1" srcdoc="')
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame).group(1)) == shown.html
    assert "my ppo against random" in repr(shown)
    shown.save(tmp_path / "game.html")
    page = document(tmp_path / "game.html")
    moves = len(records(played)[0]["choices"]) // 2
    assert re.search(rf"<b>0</b> / {moves}<", page)
    assert ">my ppo<" in page
    assert "<title>Block Battle · my ppo " in page


def test_which_game(server, played):
    every = records(played)
    with blockyard.connect(server.unix) as client:
        for index in (0, 1, len(every) - 1, -1, -len(every)):
            number = index % len(every) + 1
            shown = blockyard.view(str(played), index, height=300)
            assert shown.name == f"games.jsonl.gz#{number}"
            assert "height:300px" in shown._repr_html_()
        assert client.ping() is None
        for index in (len(every), -len(every) - 1):
            with pytest.raises(IndexError, match=f"has {len(every)} games"):
                blockyard.view(played, index)
        assert blockyard.view(every[2]).name == "blockbattle"


def test_a_recording_in_progress(server, tmp_path):
    with blockyard.make_vec(GAME, 8, address=server.unix) as env:
        env.record(tmp_path / "games.jsonl", every=1)
        random_steps(env, 60)
        assert blockyard.view(env.recording, -1).game == "blockbattle"


def test_plain_and_incomplete_files(server, played, tmp_path):
    path = tmp_path / "games.jsonl"
    text = gzip.decompress(played.read_bytes())
    path.write_bytes(text[:-10])
    count = len(records(played))
    assert blockyard.view(path, count - 2).name == f"games.jsonl#{count - 1}"
    with pytest.raises(IndexError):
        blockyard.view(path, count - 1)
    path.write_bytes(text.rstrip())
    assert blockyard.view(path, -1).name == f"games.jsonl#{count}"


def test_what_cannot_be_shown(server, played, tmp_path):
    record = records(played)[0]
    for bad, said in [({"rules": 99}, "version 99"), ({"seats": 5}, "seats"), ({"game": "chess"}, "chess")]:
        with pytest.raises(blockyard.RequestError, match=said):
            blockyard.view(record | bad)
    with pytest.raises(FileNotFoundError):
        blockyard.view(tmp_path / "none.jsonl")
    with pytest.raises(TypeError, match="want a path, a Recording or a dict, got int"):
        blockyard.view(7)
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(b"\x1f\x8bnonsense" * 9)
    with pytest.raises(ValueError, match="damaged"):
        blockyard.view(damaged)


def test_names_from_a_record_cannot_run(server, played, tmp_path):
    record = records(played)[0] | {"agents": ["</script><script>document.title='bad'</script>", "<b id='bad'>"]}
    shown = blockyard.view(record)
    shown.save(tmp_path / "game.html")
    page = document(tmp_path / "game.html")
    assert "<title>bad</title>" not in page
    assert "<b id=" not in re.sub(r'<b id="?[a-z]*total', "", page)


def test_the_whole_way(played, datasets, tmp_path):
    """Recorded games open in every tool of the project, and become datasets in other formats."""
    assert check(datasets, played) == len(records(played))

    def run(*command):
        done = subprocess.run([*datasets, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "my ppo " in run("view", f"{played}#2")
    run("view", "--html", tmp_path / "game.html", f"{played}#1")
    assert ">my ppo<" in document(tmp_path / "game.html")
    run("export", "--quiet", "--parquet", tmp_path / "parquet", played)
    run("export", "--quiet", "--minari", tmp_path / "minari", played)
    assert list((tmp_path / "parquet").rglob("*.parquet"))
    about = json.loads(next((tmp_path / "minari").rglob("metadata.json")).read_text())
    assert about["total_episodes"] > 5
