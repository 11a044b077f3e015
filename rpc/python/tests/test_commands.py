"""The command line: every command runs from this source tree, and from an installed wheel alone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import programs
import pytest

import blockyard
from blockyard.commands import COMMANDS, bench, docs, example, main

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "blockyard"]


def ran(*arguments, command=None, timeout=120, **kwargs):
    if command is None:
        return programs.run("-m", "blockyard", *arguments, timeout=timeout, **kwargs)
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=timeout, check=False, **kwargs
    )


def test_help_of_each():
    lists = [ran(*arguments) for arguments in ([], ["help"], ["--help"], ["-h"])]
    assert [one.returncode for one in lists] == [2, 0, 0, 0]
    assert len({one.stdout for one in lists}) == 1
    assert ran("help", "games").stdout == ran("games", "--help").stdout
    done = ran("arena", "--help")
    assert done.returncode == 0
    assert ran("help", "arena").stdout == done.stdout
    for word in ("games", "bench"):
        assert "--address" in ran(word, "--help").stdout
    commands = ("serve", "arena", "selfplay", "view", "export", "games", "demo")
    assert all(f"\n  {word} " in lists[1].stdout for word in commands)
    assert "--token-file" in ran("serve", "--help").stdout


def test_help_fits_the_terminal(server, capsys, monkeypatch):
    """The help of every command fits 80 columns, and names commands and nothing else as the reader has them."""
    monkeypatch.setenv("COLUMNS", "80")
    assert "\n" + 20 * " " not in ran("help").stdout, "a command has one line in the list"
    listed = re.findall(r"^  ([a-z]+(?: [a-z]+)*) (?:  |[A-Z])", ran("help").stdout, re.M)
    assert {"serve", "league author remove", "onnx", "selfplay"} <= set(listed)
    for command in listed:
        if command in COMMANDS:
            with pytest.raises(SystemExit):
                main([command, "--help"])
            text = capsys.readouterr().out
        else:
            text = ran(*command.split(), "--help", command=["blockyard"], executable=server.program).stdout
        assert text.lower().startswith(f"usage: blockyard {command}")
        assert [line for line in text.splitlines() if len(line) > 80] == [], command
        assert not re.search(r"\b(both|two|the|all|other|these) blockyard ", text), command


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["gams"], 2, 'blockyard: unknown command "gams"'),
        (["hlep"], 2, 'blockyard: unknown command "hlep", did you mean "help"?'),
        (["tournamnt"], 2, 'unknown command "tournamnt", did you mean "tournament"?'),
        (["bench", "Chess-v0", "--seconds", "0.1"], 1, 'no game "Chess-v0"; there are blockbattle'),
        (["bench", "TetrisDual-v0"], 1, "did you mean tetrisduel?"),
        (["bench", "--seconds", "-1"], 1, "--seconds: want more than 0, got -1"),
        (["games", "--address", "here"], 1, "address 'here': want 'unix:PATH'"),
        (["games", "--address", "tcp:127.0.0.1:9"], 1, "no server answers at tcp:127.0.0.1:9"),
        (
            ["games", "--token", "x"],
            2,
            "--token has no effect without --address: the server is a local one: leave it out",
        ),
        (["bench", "--ca", "x"], 2, "--ca has no effect without --address"),
        (["games", "--address", "tcp:127.0.0.1:9", "--ca=x"], 2, "--ca has no effect with --address tcp:127.0.0.1:9"),
        (["demo", "--opponent", "nobody", "--seconds", "1"], 2, "nobody"),
        (["onnx", "a.safetensors", "b.onnx", "--game", "blocking"], 2, "--game has no effect with a.safetensors"),
        (["serve", "--lisen=x"], 2, "blockyard: unknown flag --lisen"),
        (["serve", "--listen", "here"], 1, "blockyard: "),
    ],
)
def test_wrong_arguments(arguments, status, said):
    done = ran(*arguments)
    assert done.returncode == status, done
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_example(capsys, monkeypatch, tmp_path):
    """Examples are listed and run; one whose libraries are missing says what it is, and what to install."""
    assert main(["example"]) == 0
    listed = capsys.readouterr().out
    assert all(len(line) < 80 for line in listed.splitlines()[:-1])
    assert f"\n{example.folder_of_pages() / 'rpc/python/examples'}\n" in listed
    done = ran("example", "quickstart.py", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Play 100 steps of 1,024 games" in done.stdout
    assert ran("example", "quickstart", "--games").returncode == 2
    assert main(["example", "nowhere"]) == 1
    assert capsys.readouterr().err == "blockyard: example: none is named 'nowhere'; blockyard example lists them\n"

    folder = tmp_path / "rpc/python/examples"
    folder.mkdir(parents=True)
    folder.joinpath("ours.py").touch()
    text = '"""Train one.\n\nFor days."""\n\nimport argparse\nimport os.path\n\nimport ours\n'
    text += "import sb3_contrib_x.a as b\nfrom torch_x.nn import c\n\nargparse.ArgumentParser()\n"
    folder.joinpath("one.py").write_text(text)
    monkeypatch.setattr(example, "folder_of_pages", lambda: tmp_path)
    for options, said in ([], ""), (["--help"], "Train one.\n\nFor days.\n\n"):
        assert main(["example", "one", *options]) == 1
        assert capsys.readouterr() == (
            said,
            "blockyard: example one needs what is not installed here: pip install sb3_contrib_x torch_x\n",
        )


def test_docs(capsys):
    """Every page that a message, a help text or a docstring names is there, and the list fits the terminal."""
    named: dict[str, Path] = {}
    folders = ["agents", "datasets", "env", "rpc/commands", "rpc/server", "rpc/python/blockyard", "train"]
    for file in (file for folder in folders for file in (ROOT.parents[1] / folder).rglob("*.[gpt][oyx]*")):
        if not file.stem.endswith("_test") and not {"testdata", "__pycache__"} & {*file.parts} and file.is_file():
            pages = re.findall(r"(?<![\w./])(?!cards/)\w+(?:/\w+)*/\w+\.md\b", file.read_text(encoding="utf-8"))
            named |= dict.fromkeys(pages, file)  # cards are templates
    assert {"agents/JSON.md", "docs/contest.md", "agents/SUBMISSIONS.md"} <= set(named)
    for page, file in named.items():
        assert main(["docs", page]) == 0, f"{file} names {page}"
        assert capsys.readouterr().out.startswith(("# ", "---")), page
    assert main(["docs"]) == 0
    listed = capsys.readouterr().out
    assert "first" in listed
    assert all(len(line) < 80 for line in listed.partition("\n\n")[0].splitlines())
    assert main(["docs", "FIRST.md"]) == 0
    assert capsys.readouterr().out.startswith("# First training loop")
    assert main(["docs", "nowhere"]) == 1
    assert capsys.readouterr().err == "blockyard: docs: no page 'nowhere'; blockyard docs lists all\n"
    assert main(["docs", "write-a-bot"]) == 1
    assert "; near it: rpc/python/docs/skills/write-a-bot/skill; blockyard" in capsys.readouterr().err


def test_docs_of_the_wheel(monkeypatch):
    """Pages in the wheel link what is there, but for sources and what only the site has; a terminal of 80 columns shows
    their paragraphs whole."""
    monkeypatch.syspath_prepend(ROOT)
    places = __import__("hatch_build").pages(ROOT)
    sources, site = r".*\.go|.*/Dockerfile|.*/(testdata|tests|bench)/.*", r"rpc/python/docs/(games|playground)/.*"
    elsewhere = re.compile(rf"{sources}|{site}|\.github/CONTRIBUTING.md")
    for place, file in places.items():
        if place.endswith(".md"):
            text = file.read_text(encoding="utf-8")
            for link in re.findall(r"\]\(([^)#\s:]+)[)#]", text):
                target = os.path.normpath(os.path.join(os.path.dirname(place), link))
                assert target in places or elsewhere.fullmatch(target), f"{place} links {link}"
            shown = re.sub(r"^```.*?^```$", "", docs.wrapped(text, 80), flags=re.M | re.S)
            other = re.compile(r"[|#]|    |\S*$|.*\]\(\S*$")  # tables, code, a word or a link
            assert [line for line in shown.splitlines() if len(line) > 80 and not other.match(line)] == [], place
            assert docs.wrapped(text, 80).split() == text.split(), place


def test_openenv():
    """`blockyard serve --openenv` serves its game to clients that have nothing but HTTP."""
    serve = [*COMMAND, "serve", "--openenv", "127.0.0.1:0", "--game", "WinTetris-v0", "--parent-death"]
    with subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        ready = json.loads(process.stdout.readline())
        assert ready["ready"] == []  # and nothing else
        ask = urllib.request.Request(f"{ready['openenv']}/reset", data=b'{"seed": 1}')
        with urllib.request.urlopen(ask, timeout=60) as answer:
            observation = json.load(answer)["observation"]
        assert observation["text"].startswith("WinTetris-v0: It is your turn.")
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_games(server, capsys):
    assert main(["games", "--address", server.unix]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["id", "name", "seats"]
    assert [line.split()[0] for line in lines[2 : 2 + 2 * len(blockyard.ENV_IDS) : 2]] == list(blockyard.ENV_IDS)
    assert "  random, first, hand, learned" in lines[3]
    assert max(map(len, lines)) <= 80
    assert main(["games", "--address", server.unix, "--json"]) == 0
    specs = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [spec["id"] for spec in specs] == list(blockyard.ENV_IDS)
    closed = subprocess.run(
        f"{sys.executable} -m blockyard games --address {server.unix} | head -n 1",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in closed.stderr


def test_bench(server, capsys):
    options = ["bench", "Blocking-v0", "--num-envs", "8", "--seats", "3", "--seconds", "0.2", "--address", server.unix]
    assert main([*options, "--opponents", "none", "--no-mask", "--packed"]) == 0
    first, opponents, _, head, *rows = capsys.readouterr().out.splitlines()
    assert "Blocking-v0" in first
    assert opponents.startswith("opponents none, ")
    assert "per core-second" in head
    assert [row.split()[0] for row in rows] == ["step", "rollout"]
    assert main([*options, "--json", "--transport", "socket"]) == 0
    for line in capsys.readouterr().out.splitlines():
        figures = json.loads(line)
        assert figures["transport"] == "socket"
        assert figures["num_games"] == 8
        assert 0 < figures["decisions"] <= figures["steps"] * figures["num_envs"]
        assert 0 < figures["seconds"] < 60


def test_bench_counts_what_was_played(server):
    """Every step and every decision that it reports is one that the server counted."""
    with blockyard.make_vec("TetrisDuel-v0", 8, address=server.unix, illegal="random", opponents=None) as env:
        env.reset(seed=1)
        for measure in (bench.step, bench.rollout):
            before = env.stats()
            figures = measure(env, 0.1)
            after = env.stats()
            assert figures.steps <= after["steps"] - before["steps"]  # other tests may use the server
            assert figures.decisions <= figures.steps * env.num_envs


def test_demo():
    """It trains a policy, says how strong that is, and shows a whole game of it."""
    done = ran("demo", "--seconds", "2")
    assert done.returncode == 0, done.stderr
    assert re.search(r"gate \d of 4: .* vs hand \d", done.stderr)
    assert "round 1 " in done.stdout
    assert done.stdout.endswith("keeps one, in runs/blockbattle.\n")
    assert re.search(
        r"seat 1 .* result .* learned:ply=1,weights=.*\nseat 2 .* random\nblockbattle, seed 1", done.stdout
    )


def test_serve_is_the_server_itself(tmp_path):
    """Its process is replaced, so that a signal reaches the server, and other processes can use it meanwhile."""
    address = f"unix:{tmp_path}/s.sock"
    env = {**os.environ, "BLOCKYARD_TOKEN": "secret"}
    with subprocess.Popen(
        [*COMMAND, "serve", "--listen", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as serving:
        ready = json.loads(serving.stdout.readline())
        assert (ready["pid"], ready["ready"]) == (serving.pid, [address])
        assert ran("games", "--address", address, env=env).returncode == 0
        refused = ran("games", "--address", address, "--token", "other")
        assert refused.returncode == 1
        assert "wrong token" in refused.stderr
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(30) == 0


def test_from_the_wheel_alone(tmp_path):
    """Install the wheel in a new virtual environment, and run the console script far from the sources."""
    folder, uv = tmp_path / "venv", find_spec("uv")
    python = str(folder / "bin" / "python")
    subprocess.run([sys.executable, "-m", *(["uv", "venv", "-q"] if uv else ["venv"]), str(folder)], check=True)
    install = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python] if uv else []
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BLOCKYARD", "PYTHON"))}
    built = next(Path(sys.prefix).glob("wheel/blockyard-*.whl"), ROOT)  # `make .venv/test` leaves it there
    installed = ran(str(built), command=install or [python, "-m", "pip", "install", "-q"], env=env, timeout=600)
    assert installed.returncode == 0, installed.stderr
    script, kwargs = [str(folder / "bin" / "blockyard")], {"env": env, "cwd": tmp_path}
    for command in (script, [python, "-m", "blockyard"]):
        assert "blockyard 0." in (told := ran("--version", command=command, **kwargs).stdout)
        assert "(commit " in told
    kwargs["command"] = script
    assert "Usage: blockyard serve" in ran("serve", "--help", **kwargs).stdout
    games = ran("games", **kwargs)
    assert games.stdout.count("\nBlockBattle") == 3, games.stderr
    assert "rollout" in ran("bench", "--seconds", "0.1", "--num-envs", "16", **kwargs).stdout
    arena = ("arena", "wintetris", "--a", "hand", "--games", "1", "--cap", "20", "--record", "played.jsonl.gz")
    assert "hand" in ran(*arena, **kwargs).stdout
    exported = ran("datasets", "export", "played.jsonl.gz", "--parquet", "data", **kwargs)
    assert exported.returncode == 0, exported.stderr
    bundled = ran("bundle", "dropblox", "--hand", "--out", "bot.go", **kwargs)
    assert "bot.go: " in bundled.stdout, bundled.stderr
    demo = ran("demo", "--seconds", "1", **kwargs)
    assert "  random\n" in demo.stdout, demo.stderr
